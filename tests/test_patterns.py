"""Patterns that are compiled late: every one of them compiles, and does what `re` does."""

import importlib
import pkgutil
import re

import pytest

import forensics
from forensics.patterns import later


def _all() -> dict[str, re.Pattern[str] | re.Pattern[bytes]]:
    kind = type(later(""))
    found: dict[str, re.Pattern[str] | re.Pattern[bytes]] = {}
    for module in pkgutil.walk_packages(forensics.__path__, "forensics."):
        if not module.name.endswith("__main__"):
            known = vars(importlib.import_module(module.name))
            found |= {f"{module.name}.{name}": one for name, one in known.items() if type(one) is kind}
    return found


def test_every_pattern_of_the_program_compiles() -> None:
    """An error in one would show on the first file that needs it."""
    patterns = _all()
    assert len(patterns) > 80
    for name, pattern in patterns.items():
        made: re.Pattern[str] | re.Pattern[bytes] = re.compile(pattern.pattern, pattern.flags)
        assert pattern.groupindex == made.groupindex, name


def test_a_late_pattern_answers_as_an_early_one() -> None:
    early, late = re.compile(r"(?P<word>[a-z]+)\d", re.IGNORECASE), later(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    text = "A1 b2, c"
    assert late.findall(text) == early.findall(text) == ["A", "b"]
    assert [one.span() for one in late.finditer(text)] == [one.span() for one in early.finditer(text)]
    assert late.subn("-", text) == early.subn("-", text) == ("- -, c", 2)
    assert late.sub("-", text, 1) == "- b2, c"
    assert late.split(text) == early.split(text)
    assert late.match("1a") is None
    assert late.fullmatch("z9") is not None
    assert late.search(text) is not None
    assert dict(late.groupindex) == {"word": 1}


def test_a_late_pattern_says_what_it_is_before_it_is_compiled() -> None:
    assert later(b"[").pattern == b"["
    with pytest.raises(AttributeError):
        later("a").nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(re.error):
        later("[").search("a")
