"""An option that would find what is not there is refused, with what is right."""

import pytest

from forensics.cli import run
from tests.detectors.test_kill_registry import LEAST_1


@pytest.mark.parametrize(("detector", "option"), sorted(LEAST_1))
def test_0_is_refused_with_what_is_right(detector: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", "--set", f"{detector}.{option}=0", "."]) == 2
    kind = "number" if option == "ratio" else "whole number"
    assert f"{detector}.{option}: '0' does not fit; give a {kind} from 1\n" in capsys.readouterr().err
