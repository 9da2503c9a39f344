"""The real agents against the policies that model them: every decision of every recording.

`TABLE` holds, per recording and kind of file, the decisions compared with the policy of that version: decisions,
equal, undetermined, departures. `EXPLAINED` holds the departures, each with its reason. `REFUTED` holds what each
recording says of the policies of other versions: the scenarios in which a file of that kind departs from it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from forensics.parse import NotRecognised, Source, read, recognise
from forensics.replay import find
from forensics.replaying.conform import Conformance, conform
from forensics.replaying.decisions import Point, points, sight
from forensics.timeline import File

OLD_PI = {"mid-turn": False, "hollow": True}
OWN: dict[str, tuple[str, dict[str, Any]]] = {
    "atomic-cf3c2059-pre1690": ("atomic-1684", {}),
    "atomic-7c87ed1d-pr1690": ("atomic-1690", {}),
    "atomic-6031a926-head": ("atomic-head", {}),
    "pi-0.73.1": ("pi", OLD_PI),
    "pi-1.6.0": ("pi", {}),
    "openclaw-2026.9.6": ("openclaw-2026-9", {}),
    "opencode-1.2.27": ("opencode-before", {}),
    "opencode-1.18.3": ("opencode-before", {}),
    "opencode-1.18.33": ("opencode-before", {}),
    "pilotdeck-v260806": ("pilotdeck-before", {}),
    "pilotdeck-1104fd9e-head": ("pilotdeck-head", {}),
}
"""No policy models the PilotDeck of 7 July: its summary policy changed three times before v260806."""
TABLE: dict[str, dict[str, tuple[int, int, int, int]]] = {
    "atomic-cf3c2059-pre1690": {"pi": (54, 42, 12, 0), "pi-events": (75, 66, 9, 0)},
    "atomic-7c87ed1d-pr1690": {"pi": (42, 32, 10, 0), "pi-events": (61, 56, 5, 0)},
    "atomic-6031a926-head": {"pi": (50, 42, 8, 0), "pi-events": (66, 55, 11, 0)},
    "pi-0.73.1": {"pi": (42, 31, 11, 0), "pi-events": (60, 30, 30, 0)},
    "pi-1.6.0": {"pi": (72, 66, 6, 0), "pi-events": (92, 79, 13, 0)},
    "openclaw-2026.9.6": {"openclaw-log": (38, 30, 7, 1), "openclaw-db": (32, 27, 5, 0)},
    "opencode-1.2.27": {
        "opencode-run": (47, 44, 3, 0),
        "opencode-db": (48, 46, 2, 0),
        "opencode-export": (48, 46, 2, 0),
    },
    "opencode-1.18.3": {
        "opencode-run": (124, 120, 4, 0),
        "opencode-db": (126, 123, 3, 0),
        "opencode-export": (126, 123, 3, 0),
        "opencode-log": (100, 50, 50, 0),
    },
    "opencode-1.18.33": {
        "opencode-run": (219, 198, 21, 0),
        "opencode-db": (223, 211, 12, 0),
        "opencode-export": (223, 211, 12, 0),
        "opencode-log": (216, 110, 106, 0),
    },
    "pilotdeck-v260806": {"pilotdeck-log": (101, 94, 7, 0), "pilotdeck-chat": (102, 16, 86, 0)},
    "pilotdeck-1104fd9e-head": {"pilotdeck-log": (5, 3, 2, 0), "pilotdeck-chat": (89, 11, 78, 0)},
}
EXPLAINED = {
    ("openclaw-2026.9.6", "f_retry_storm", "openclaw-log"): (
        659,
        "it stops retrying at a deadline: after eight requests in one prompt, after seven in the next; a policy "
        "knows no clock and counts to eight",
    )
}
REFUTED: dict[str, dict[str, dict[str, str]]] = {
    "atomic-cf3c2059-pre1690": {
        # In print mode the session file loses a continuation that is not awaited, so it cannot tell.
        "pi": {"atomic-1690": "e_rpc", "atomic-head": "e_rpc"},
        "pi-events": {"atomic-1690": "e e2 e3 e_rpc", "atomic-head": "e e2 e3 e_rpc h"},
    },
    "atomic-7c87ed1d-pr1690": {
        "pi": {"atomic-before": "d e e2 e_rpc", "atomic-1684": "e e2 e_rpc"},
        "pi-events": {"atomic-before": "d e e2 e_rpc", "atomic-1684": "e e2 e_rpc", "atomic-head": "h"},
    },
    "atomic-6031a926-head": {
        "pi": {"atomic-before": "c d e e2 e3 h", "atomic-1684": "c e e2 e3 h", "atomic-1690": "c e e2 e3 h"},
        "pi-events": {"atomic-before": "c d e e2 e3 h", "atomic-1684": "c e e2 e3 h", "atomic-1690": "c e e2 e3 h"},
    },
    "pi-0.73.1": {"pi": {"atomic-1690": "b b3 d e e2 h"}, "pi-events": {}},
    "pi-1.6.0": {
        "pi": {"pi 0.73": "e e_rpc", "atomic-1690": "d e e_rpc g"},
        "pi-events": {"pi 0.73": "c e e_rpc", "atomic-1690": "c e e_rpc"},
    },
    "openclaw-2026.9.6": {
        "openclaw-log": {"openclaw": "b f h", "pi": "b f"},
        "openclaw-db": {"openclaw": "f h", "pi": "f h"},
    },
    "opencode-1.2.27": {
        "opencode-run": {"opencode-37584": "b", "opencode-replo": "b b4 h", "opencode-v2": "b b4 h", "kilo": "b"},
        "opencode-db": {"opencode-37584": "b", "opencode-replo": "b b4 h", "opencode-v2": "a b b4 h", "kilo": "b"},
        "opencode-export": {"opencode-37584": "b", "opencode-replo": "b b4 h", "opencode-v2": "a b b4 h", "kilo": "b"},
    },
    "opencode-1.18.3": {
        "opencode-run": {"opencode-37584": "b", "opencode-replo": "b b4", "opencode-v2": "b b4 c", "kilo": "b"},
        "opencode-db": {"opencode-37584": "b c", "opencode-replo": "b b4", "opencode-v2": "a b b4 c", "kilo": "b b3 c"},
        "opencode-log": {"opencode-replo": "b"},
    },
    "opencode-1.18.33": {
        "opencode-run": {
            "opencode-37584": "b b_anthropic b_responses",
            "opencode-replo": "b b4 b_anthropic b_responses h h2",
            "opencode-v2": "b b4 b_anthropic b_responses c c2 h h2",
            "kilo": "b b_anthropic b_responses",
        },
        "opencode-db": {
            "opencode-37584": "b b_anthropic b_responses c",
            "opencode-replo": "b b4 b_anthropic b_responses h h2",
            "opencode-v2": "a b b4 b_anthropic b_responses c c2 h h2",
            "kilo": "b b3 b_anthropic b_responses c f f_anthropic g",
        },
        "opencode-log": {"opencode-replo": "b b4 b_anthropic b_responses h"},
    },
    "pilotdeck-v260806": {"pilotdeck-log": {"pilotdeck-head": "c c4 c5 c6"}, "pilotdeck-chat": {}},
    "pilotdeck-1104fd9e-head": {"pilotdeck-log": {"pilotdeck-before": "c"}, "pilotdeck-chat": {}},
}
FAMILIES = {
    "atomic": ("atomic-before", "atomic-1684", "atomic-1690", "atomic-head"),
    "pi": ("pi", "pi 0.73", "atomic-1690"),
    "openclaw": ("openclaw", "openclaw-2026-9", "pi"),
    "opencode": ("opencode-before", "opencode-37584", "opencode-replo", "opencode-v2", "kilo"),
    "pilotdeck": ("pilotdeck-before", "pilotdeck-head"),
}
FILES = (
    "session/*.jsonl",
    "step*_stdout.txt",
    "rpc_stdout.jsonl",
    "opencode.db",
    "export_*.json",
    "log/*.log",
    "state/agents/main/agent/*.sqlite",
    "runtime.log",
    "pilot_home/projects/*/chats/*.jsonl",
)
WHOLE = {
    "pi-1.6.0": ("pi",),
    "opencode-1.18.33": ("opencode-db", "opencode-export", "opencode-run"),
    "openclaw-2026.9.6": ("openclaw-db", "openclaw-log"),
}
"""Files that hold a row for each request of an ordinary turn, but for retries of opencode's transient errors."""


class Read(NamedTuple):
    scenario: str
    parser: str
    made: list[Point]
    found: dict[str, Conformance]


@cache
def _recording(folder: Path) -> tuple[Read, ...]:
    return tuple(_read(folder))


def _read(folder: Path) -> Iterator[Read]:
    agent = folder.name.split("-")[0]
    own, options = OWN[folder.name]
    for scenario in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in (path for pattern in FILES for path in sorted(scenario.glob(pattern))):
            if "truncated" in path.name:
                continue
            try:
                chosen = recognise(path)
            except NotRecognised:
                continue
            source = Source(path)
            file = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(source, chosen))
            seen = sight(chosen, source.failures or chosen.failures)
            for session in file.sessions:
                made = points(session, seen, None, file.host)
                found = {}
                for name in FAMILIES[agent]:
                    real = name.split()[0]
                    found[name] = conform(made, find(real), seen, OLD_PI if name == "pi 0.73" else None)
                found["own"] = conform(made, find(own), seen, options)
                yield Read(scenario.name, chosen.name, made, found)


def _short(scenario: str) -> str:
    words = scenario.split("_")
    return f"{words[0]}_{words[-1]}" if words[-1] in {"rpc", "anthropic", "responses"} and words[0] != "e" else (
        "e_rpc" if words[-1] == "rpc" else words[0]
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OWN))
def test_each_version_decides_as_the_policy_that_models_it(corpus: Path, name: str) -> None:
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for one in _recording(corpus / "recorded" / name):
        own = one.found["own"]
        figures = own.decisions, own.equal, own.undetermined, len(own.departures)
        totals[one.parser] = [held + new for held, new in zip(totals[one.parser], figures, strict=True)]
        explained = EXPLAINED.get((name, one.scenario, one.parser))
        lines = [one.made[departure.at].row.line for departure in own.departures]
        assert lines == ([] if explained is None else [explained[0]]), (one.scenario, one.parser)
    assert {parser: tuple(figures) for parser, figures in totals.items()} == TABLE[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OWN))
def test_a_version_is_told_from_the_others_where_they_differ_and_the_file_shows_it(corpus: Path, name: str) -> None:
    refuted: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    own, options = OWN[name]
    for one in _recording(corpus / "recorded" / name):
        for policy, found in one.found.items():
            if found.departures and policy not in {"own", f"{own} 0.73" if options else own}:
                refuted[one.parser][policy].add(_short(one.scenario))
    shown = {
        parser: {policy: " ".join(sorted(scenarios)) for policy, scenarios in sorted(found.items())}
        for parser, found in refuted.items()
    }
    for parser, expected in REFUTED[name].items():
        assert shown.get(parser, {}) == expected, parser


@pytest.mark.slow
@pytest.mark.parametrize("name", list(WHOLE))
def test_every_failed_request_is_a_decision(corpus: Path, name: str) -> None:
    """Counted by the scripted model, not by us."""
    folder = corpus / "recorded" / name
    counted: Counter[tuple[str, str]] = Counter()
    for one in _recording(folder):
        counted[one.scenario, one.parser] += sum(
            point.decides and point.kind == "reply" and point.row.stop in {"length", "error"} for point in one.made
        )
    kinds = ("overflow_errors", "underflow_errors", "length_stops", "length_empty")
    for (scenario, parser), decisions in counted.items():
        if parser in WHOLE[name] and scenario[0] not in "fg":
            truth = json.loads((folder / scenario / "truth.json").read_text(encoding="utf-8"))
            assert decisions == sum(truth[kind] for kind in kinds), (scenario, parser)


@pytest.mark.slow
def test_what_is_inferred_of_the_threshold_agrees_with_the_configured_one(corpus: Path) -> None:
    """48,000 or 16,000 tokens of window, less a reserve of 6,000 or 2,000, in the agents' own settings."""
    thresholds = {"atomic": 42_000, "pi": 14_000}
    judged = 0
    for name in OWN:
        for one in _recording(corpus / "recorded" / name):
            threshold = thresholds.get(name.split("-")[0])
            for point in one.made:
                overs = {signal.over for signal in point.signals}
                context = point.row.context
                known = point.kind == "reply" and len(overs) == 1 and point.row.stop in {"done", "length"}
                if threshold and known and context is not None and (one.parser == "pi-events" or point.decides):
                    judged += 1
                    assert overs == {context > threshold}, (name, one.scenario, point.row.line)
    assert judged > 100
