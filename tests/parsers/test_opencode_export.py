import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.events import Event, fields
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.timeline import File

EventsOf = Callable[[Path], list[Event]]
FileOf = Callable[[Path], File]
SAMPLE = Path(__file__).parents[2] / "samples" / "parsers" / "opencode_export.json"


def _document() -> dict[str, Any]:
    text = SAMPLE.read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text[text.index("{") :])
    return document


def _plain(events: list[Event]) -> list[dict[str, Any]]:
    return [{name: value for name, value in fields(event).items() if name != "line"} for event in events]


@pytest.mark.parametrize(
    "text",
    [
        '{"info": {"role": "user", "id": "msg_1"}, "parts": [], "version": "1"}',
        '{"info": {"title": "an OpenAPI document", "version": "1.0.0"}, "paths": {}}',
        '{"id": "ses_1", "messages": []}',
    ],
)
def test_another_document_is_not_recognised(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(NotRecognised):
        recognise(path)


@pytest.mark.parametrize("before", ["# An export\n\n```json\n", "It printed:\n", '{"data": ', 'DOCUMENT = """'])
def test_a_text_that_shows_a_document_is_not_one(samples: Path, tmp_path: Path, before: str) -> None:
    path = tmp_path / "notes.md"
    document = (samples / "parsers" / "opencode_export.json").read_text(encoding="utf-8").partition("\n")[2]
    path.write_text(document, encoding="utf-8")
    assert recognise(path).name == "opencode-export"
    path.write_text(before + document, encoding="utf-8")
    with pytest.raises(NotRecognised):
        recognise(path)


def test_each_line_is_where_the_message_begins(samples: Path, events_of: EventsOf) -> None:
    path = samples / "parsers" / "opencode_export.json"
    lines = path.read_text(encoding="utf-8").split("\n")
    events = events_of(path)
    assert [event.line for event in events if event.kind == "compact"] == [254, 554, 809]
    for event in events[1:]:
        assert event.line is not None
        assert lines[event.line - 1] == "    {"
        if event.kind != "tool":
            assert lines[event.line + 1].strip() == f'"id": "{event.record}",'


def test_the_captured_first_line_is_noted_not_malformed(samples: Path) -> None:
    source = Source(samples / "parsers" / "opencode_export.json")
    assert list(read(source))
    assert source.notes == ["passed over before the document: 'Exporting session: ses_05e6a1000001greenhouse'"]
    assert (source.malformed, source.lines, source.records) == ([], 861, 55)


def test_the_database_and_the_export_tell_the_same(samples: Path, events_of: EventsOf) -> None:
    exported = _plain(events_of(samples / "parsers" / "opencode_export.json"))
    stored = _plain(events_of(samples / "parsers" / "opencode_db.db"))
    assert stored[: len(exported)] == exported


def test_a_document_on_one_line_has_line_1_everywhere(tmp_path: Path, events_of: EventsOf, samples: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(_document()))
    events = events_of(path)
    assert {event.line for event in events} == {1}
    assert _plain(events) == _plain(events_of(samples / "parsers" / "opencode_export.json"))


def test_messages_out_of_order_are_sorted_by_time_not_by_id(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "export.json"
    document = _document()
    document["messages"].sort(key=lambda message: message["info"]["id"])
    path.write_text(json.dumps(document))
    assert _plain(events_of(path)) == _plain(events_of(SAMPLE))


def test_a_cut_export_gives_every_whole_message_and_lists_the_cut(tmp_path: Path, events_of: EventsOf) -> None:
    document = _document()
    filler = {"type": "text", "text": "x" * 70000}
    document["messages"][-1]["parts"].append(filler)
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(document, indent=2)[:65536])
    source = Source(path)
    events = list(read(source))
    assert _plain(events) == _plain(events_of(SAMPLE))[:-1]
    (cut,) = source.malformed
    assert (cut.line, cut.salvaged) == (832, False)
    assert path.read_bytes()[cut.offset : cut.offset + 1] == b"{"
    assert cut.reason == (
        "the document ends inside a message, at 65,536 bytes: an export to a pipe is cut at a multiple of 65,536"
    )


def test_an_export_cut_after_a_rejected_request_does_not_call_it_interrupted(tmp_path: Path) -> None:
    whole = SAMPLE.read_text(encoding="utf-8").split("\n")
    path = tmp_path / "cut.json"
    path.write_text("\n".join(whole[:255]))
    events = list(read(Source(path)))
    assert (events[-1].record, events[-1].stop) == ("msg_000000748005greenhouse0005", None)


def test_a_message_broken_inside_costs_that_message(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "broken.json"
    path.write_text(SAMPLE.read_text(encoding="utf-8").replace('"text": "continue"', '"text": "contin'))
    source = Source(path)
    records = [event.record for event in read(source)]
    expected = [event.record for event in events_of(SAMPLE)]
    expected.remove("msg_00000fef200agreenhouse0010")
    assert records == expected
    assert [(one.line, one.reason) for one in source.malformed] == [(400, "a broken message")]


def test_a_figure_of_an_unexpected_shape_costs_that_figure(tmp_path: Path) -> None:
    document = _document()
    document["messages"][1]["info"]["cost"] = "dear"
    document["messages"][2]["parts"][2]["tokens"]["input"] = [1]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document, indent=2))
    events = list(read(Source(path)))
    assert len(events) == 23
    assert [(event.cost, event.input) for event in events if event.kind == "reply"][:2] == [(0.01, 900), (0.002, None)]


def test_a_document_whose_own_id_is_lost_takes_its_messages(tmp_path: Path) -> None:
    document = _document()
    document["info"]["id"] = 7
    path = tmp_path / "odd.json"
    path.write_text(
        json.dumps(document, indent=2).replace('"id": 7', '"id": [7], "was": "ses_lost", "id": {"id": "ses"}')
    )
    assert {event.session for event in read(Source(path))} == {"ses_05e6a1000001greenhouse"}


def test_text_after_the_document_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    path.write_text(SAMPLE.read_text(encoding="utf-8") + "Done.\n")
    source = Source(path)
    assert len(list(read(source))) == 23
    assert [(one.line, one.reason) for one in source.malformed] == [(862, "text after the document")]


def test_replays_in_a_sanitised_export_are_still_replays(tmp_path: Path) -> None:
    document = _document()
    for message in document["messages"]:
        for part in message["parts"]:
            if "text" in part:
                part["text"] = f"[redacted:text:{part['id']}]"
    path = tmp_path / "sanitised.json"
    path.write_text(json.dumps(document, indent=2))
    origins = [event.origin for event in read(Source(path)) if event.kind == "prompt"]
    assert origins == ["human", "human", "replay", "human", "queued", "synthetic", "human"]


@settings(max_examples=60, deadline=None)
@given(at=st.integers(100, 22700))
def test_wherever_it_is_cut_nothing_is_lost_in_silence(at: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("cut") / "cut.json"
    data = SAMPLE.read_bytes()
    path.write_bytes(data[:at])
    try:
        source = Source(path)
        events = list(read(source))
    except NotRecognised:
        assert at < 400
        return
    starts = [event.line for event in read(Source(SAMPLE)) if event.kind not in {"tool", "session"}]
    ends = [line for line in starts if line is not None and b"\n".join(data.split(b"\n")[: line - 1]) < data[:at]]
    told = [event.line for event in events if event.kind not in {"tool", "session"}]
    assert told == starts[: len(told)]
    assert len(ends) - 1 <= len(told) <= len(ends)
    assert len(source.malformed) == 1


def test_reproduction_of_empty_stops(corpus: Path, file_of: FileOf) -> None:
    (session,) = file_of(corpus / "reproductions" / "opencode_empty_stop" / "export.json").sessions
    empty = [event.record for event in session.events if event.stop == "empty"]
    assert empty == ["msg_f00060001empty", "msg_f00090001empty", "msg_f000c0001empty"]
    assert (session.replies, dict(session.errors)) == (5, {})


def test_reproduction_of_steps_and_a_child_session(corpus: Path, file_of: FileOf) -> None:
    folder = corpus / "reproductions" / "opencode_steps_and_child"
    (parent,) = file_of(folder / "parent.json").sessions
    (child,) = file_of(folder / "child.json").sessions
    assert (parent.input_tokens, parent.output_tokens, parent.cached_tokens) == (1200, 150, 11100)
    assert (parent.cost, parent.replies, parent.peak) == (0.03, 1, 6350)
    assert (child.input_tokens, child.output_tokens, child.cost) == (700, 70, 0.005)
    assert (child.parent, child.prompts) == ("ses_parent", 0)


@pytest.mark.parametrize("name", ["opencode-export-1", "opencode-export-2", "opencode-length-stop"])
def test_real_exports_add_up_to_their_own_totals(corpus: Path, name: str) -> None:
    path = corpus / "real" / f"{name}.json"
    source = Source(path)
    events = list(read(source))
    info = msgspec.json.decode(path.read_bytes())["info"]
    paid = [event for event in events if event.kind in {"reply", "compacted"}]
    assert sum(event.input or 0 for event in paid) == info["tokens"]["input"]
    assert sum(event.output or 0 for event in paid) == info["tokens"]["output"] + info["tokens"]["reasoning"]
    assert sum(event.reasoning or 0 for event in paid) == info["tokens"]["reasoning"]
    assert sum(event.cost or 0 for event in paid) == pytest.approx(info["cost"])
    assert (source.notes, source.malformed, dict(source.unknown)) == ([], [], {})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("opencode-export-1", {"summaries": 2, "length": 0, "synthetic": 2, "queued": 5, "open": 1, "died": 0}),
        ("opencode-export-2", {"summaries": 1, "length": 0, "synthetic": 1, "queued": 1, "open": 0, "died": 1}),
        ("opencode-length-stop", {"summaries": 0, "length": 1, "synthetic": 0, "queued": 0, "open": 0, "died": 0}),
    ],
)
def test_real_exports_tell_what_stands_in_them(
    corpus: Path, events_of: EventsOf, name: str, expected: dict[str, int]
) -> None:
    events = events_of(corpus / "real" / f"{name}.json")
    assert {
        "summaries": sum(event.outcome == "summary" for event in events),
        "length": sum(event.stop == "length" for event in events),
        "synthetic": sum(event.origin == "synthetic" for event in events),
        "queued": sum(event.origin == "queued" for event in events),
        "open": sum(event.kind == "reply" and event.stop is None for event in events),
        "died": sum(event.stop == "error" and event.fault == "unknown" for event in events),
    } == expected


def _as_json(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return json.loads(text[text.index("{") :])


def test_messages_and_parts_that_name_others_are_read_and_listed(samples: Path, tmp_path: Path) -> None:
    sample = samples / "parsers" / "opencode_export.json"
    document = _as_json(sample)
    document["messages"][0]["info"]["sessionID"] = "ses_other"
    document["messages"][1]["parts"][0]["messageID"] = "msg_other"
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    source = Source(path)
    before = [
        (event.kind, event.record, event.text) for event in read(Source(samples / "parsers/opencode_export.json"))
    ]
    assert [(event.kind, event.record, event.text) for event in read(source)] == before
    first, second = (document["messages"][at]["info"]["id"] for at in (0, 1))
    assert [(bad.reason, bad.salvaged) for bad in source.malformed] == [
        (f"message {first}: it names another session", True),
        (f"message {second}: parts that name another message: 1", True),
    ]


def test_an_odd_field_is_no_cut(samples: Path, tmp_path: Path) -> None:
    """A document with an odd field once counted as one whose end is missing."""
    document = _as_json(samples / "parsers" / "opencode_export.json")
    path = tmp_path / "export.json"
    document["messages"][0]["info"]["time"]["created"] = "soon"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    source = Source(path)
    stops = [(event.record, event.stop) for event in read(source) if event.kind == "reply"]
    assert stops == [
        (event.record, event.stop)
        for event in read(Source(samples / "parsers" / "opencode_export.json"))
        if event.kind == "reply"
    ]
    assert [bad.salvaged for bad in source.malformed] == [True]


def test_an_empty_reply_of_reasoning_alone_generated_what_was_billed(corpus: Path, events_of: EventsOf) -> None:
    """183 tokens were once told where 1,106 were generated."""
    events = events_of(corpus / "reproductions" / "opencode_empty_stop" / "export.json")
    assert sum(event.output or 0 for event in events) == 1106
    assert sum(event.reasoning or 0 for event in events) == 923
