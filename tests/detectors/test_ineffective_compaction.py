from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, prompt, reply, start, written


@pytest.fixture
def found(samples: Path, file_of: Callable[[Path], File]) -> dict[str | None, Finding]:
    file = file_of(samples / "detectors" / "ineffective_compaction.jsonl")
    return {finding.session: finding for finding in detect(file, ["ineffective-compaction"])}


def test_room_made_unknown_sizes_and_a_persons_own_paste_stay_quiet(found: dict[str | None, Finding]) -> None:
    assert not found.keys() & {"makes-room", "nothing-known", "the-person-filled-it"}


def test_a_compaction_that_grows_the_context(found: dict[str | None, Finding]) -> None:
    finding = found["not-smaller"]
    assert finding.severity == "warning"
    assert finding.measures == {
        "before": 82_590,
        "after": 82_661,
        "share": 1.0009,
        "times": 1,
        "kind": "not smaller",
    }
    assert finding.lines == [19]


def test_the_next_request_tells_where_the_record_does_not(found: dict[str | None, Finding]) -> None:
    finding = found["only-the-next-request-tells"]
    assert (finding.measures["after"], finding.bases["after"], finding.lines) == (99_000, "derived", [23, 24])


def test_an_announced_reduction_that_was_not_real(found: dict[str | None, Finding]) -> None:
    assert found["announced-but-not-real"].measures["kind"] == "full again at once"


def test_a_fixed_point_is_one_finding(found: dict[str | None, Finding]) -> None:
    finding = found["fixed-point"]
    assert (finding.measures["times"], finding.measures["kind"], finding.measures["share"]) == (
        4,
        "fixed point",
        0.8359,
    )


def test_the_share_is_an_option(samples: Path, file_of: Callable[[Path], File]) -> None:
    file = file_of(samples / "detectors" / "ineffective_compaction.jsonl")
    strict = detect(file, ["ineffective-compaction"], {"ineffective-compaction": {"share": 0.8}})
    assert [finding.measures["times"] for finding in strict if finding.session == "fixed-point"] == [4]


def test_a_failed_attempt_that_cut_nothing_stays_quiet(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    before = [prompt(), reply("tool", context=10_000), start()]
    for outcome in ("failed", "no-summary", "aborted", "skipped"):
        rows = [*before, end(outcome, before=10_000, after=10_000), reply("tool", context=10_000), reply()]
        assert written("ineffective-compaction", path, *rows) == []
    for outcome, after in (("failed", 9999), ("unknown", 10_000), ("summary", 10_000)):
        (finding,) = written("ineffective-compaction", path, *before, end(outcome, before=10_000, after=after))
        assert (finding.measures["before"], finding.measures["after"]) == (10_000, after)
    for untold in (end("unknown"), end("failed", before=10_000)):
        assert written("ineffective-compaction", path, *before, untold, reply("tool", context=10_000), reply()) == []
    rows = [*before, end("failed", after=5000), reply("tool", context=10_000), reply()]
    (finding,) = written("ineffective-compaction", path, *rows)
    assert finding.measures["kind"] == "full again at once"


def test_the_size_before_is_that_of_the_last_reply_that_has_one(tmp_path: Path) -> None:
    """Of a run of good replies the ends are kept: where the last had no usage, that of the first was taken."""
    run = [reply("tool", context=18_000), reply("tool", context=38_000), reply("tool")]
    after = [end("summary"), reply("tool", context=18_000), reply(context=18_500)]
    assert not written("ineffective-compaction", tmp_path / "room.jsonl", prompt(), *run, *after)
    run[1]["context"] = 18_300
    (finding,) = written("ineffective-compaction", tmp_path / "none.jsonl", prompt(), *run, *after)
    assert (finding.measures["before"], finding.measures["after"]) == (18_300, 18_000)
