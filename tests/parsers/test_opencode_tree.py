import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.events import Event, fields
from forensics.parse import NotRecognised, Source, read, recognise

EventsOf = Callable[[Path], list[Event]]
SESSION = Path("session", "global", "ses_05e6a0000001seedlings.json")


def _told(events: list[Event]) -> list[dict[str, object]]:
    return [{name: value for name, value in fields(event).items() if name != "line"} for event in events]


@pytest.fixture
def tree(samples: Path, tmp_path: Path) -> Path:
    """A copy of the sample's storage folder."""
    return Path(shutil.copytree(samples / "parsers" / "opencode_tree", tmp_path / "storage"))


def test_a_message_or_a_part_is_no_session(tree: Path) -> None:
    others = [*tree.glob("message/*/*.json"), *tree.glob("part/*/*.json")]
    assert len(others) == 6
    for path in others:
        with pytest.raises(NotRecognised, match="JSON document"):
            recognise(path)


def test_a_session_is_read_with_the_files_beside_it(tree: Path, samples: Path, events_of: EventsOf) -> None:
    source = Source(tree / SESSION)
    events = list(read(source))
    stored = events_of(samples / "parsers" / "opencode_db.db")
    assert _told(events) == _told([event for event in stored if event.session == "ses_05e6a0000001seedlings"])
    assert [event.line for event in events] == [1, None, None]
    assert (source.records, source.lines, len(source.companions)) == (7, 23, 6)
    assert source.notes == []


def test_the_layout_of_mid_2025(tree: Path, tmp_path: Path, events_of: EventsOf) -> None:
    inner = tmp_path / "project" / "home-demo" / "storage" / "session"
    shutil.copytree(tree / "session" / "global", inner / "info")
    shutil.copytree(tree / "message", inner / "message")
    shutil.copytree(tree / "part", inner / "part" / "ses_05e6a0000001seedlings")
    assert _told(events_of(inner / "info" / SESSION.name)) == _told(events_of(tree / SESSION))


def test_a_session_alone_is_said_to_be_alone(tree: Path) -> None:
    shutil.rmtree(tree / "message")
    source = Source(tree / SESSION)
    assert [event.kind for event in read(source)] == ["session"]
    assert source.notes == ["no message folder beside it: the session's messages are not here"]


def test_a_torn_part_costs_that_part(tree: Path) -> None:
    part = next(path for path in sorted(tree.glob("part/*/*.json")) if "Peas" in path.read_text(encoding="utf-8"))
    part.write_text(part.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    source = Source(tree / SESSION)
    assert [event.stop for event in read(source)] == [None, None, None], "what it said is not known: it is not empty"
    (torn,) = source.malformed
    assert torn.reason.startswith("/".join(part.parts[-3:]) + ": torn or broken JSON")


def test_messages_without_a_finish_end_as_their_parts_say(tree: Path, events_of: EventsOf) -> None:
    """Versions of mid 2025 wrote neither `finish` nor a step's `reason`."""
    for path in [*tree.glob("message/*/*.json"), *tree.glob("part/*/*.json")]:
        record = json.loads(path.read_text(encoding="utf-8"))
        record.pop("finish", None)
        record.pop("reason", None)
        path.write_text(json.dumps(record), encoding="utf-8")
    assert [event.stop for event in events_of(tree / SESSION)] == [None, None, "done"]


def test_a_message_that_names_another_id_or_session_keeps_its_file_s_name_and_its_parts(tree: Path) -> None:
    """A changed id once lost the message's parts, and could lead out of the folder."""
    first, second = sorted(tree.glob("message/*/*.json"))
    for path, field, value in ((first, "id", "../../elsewhere"), (second, "sessionID", "ses_other")):
        record = {**json.loads(path.read_text(encoding="utf-8")), field: value}
        path.write_text(json.dumps(record), encoding="utf-8")
    source = Source(tree / SESSION)
    assert [(event.record, event.stop) for event in read(source) if event.kind != "session"] == [
        (first.stem, None),
        (second.stem, "done"),
    ]
    assert [(bad.reason, bad.salvaged) for bad in source.malformed] == [
        ("/".join(path.parts[-3:]) + ": it names another id or another session", True) for path in (first, second)
    ]
