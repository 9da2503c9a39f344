"""`forensics replay` from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forensics.cli import run
from forensics.replaying.replay_report import schema

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes]) -> Command:
    def call(*words: str) -> tuple[int, str, str]:
        code = run(["replay", *words])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


@pytest.fixture
def incidents(samples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(samples / "incidents")
    return Path()


ATOMIC = """\
atomic-1690/session.jsonl  session 5720446f-3417-4664-a086-fb913735c9d5  (atomic)
  Ran the logic before pull request 1690 (atomic-before or atomic-1684); lines 387-389 are the proof.
  11 decisions; longest streak without progress 1 at lines 387-388; threshold over 151,780 (inferred), window and \
output cap unknown

  policy         equal  departs  open  bounded       first departure
  atomic-before     11        0     0  in 5 actions
  atomic-1684       11        0     0  in 5 actions
  atomic-1690        7        4     0  in 5 actions  388: recorded nothing until a person wrote, policy continue
  atomic-head        7        4     0  no            388: recorded nothing until a person wrote, policy continue
  reference          7        4     0  in 3 actions  388: recorded nothing until a person wrote, policy retry

  avoided from the first departure on, pessimistic to optimistic (negative: spent more)
  policy         continues  compactions  summaries    calls  tokens  dollars  hours
  atomic-before  nothing
  atomic-1684    nothing
  atomic-1690    0 to 4               0          0  -4 to 0       0    $0.00  0.0 to 2.5
  atomic-head    0 to 4               0          0  -4 to 0       0    $0.00  0.0 to 2.5
  reference      0 to 4               0          0  -4 to 0       0    $0.00  0.0 to 2.5
  note: sizes inferred from neighbours suppose that no compaction failed unseen; --cap settles it
  note: a session file loses what its agent does after the process closes: such decisions stay open
  note: atomic-1690: goes on by itself at 4 of 4 places where a person had to write
  note: atomic-head: goes on by itself at 4 of 4 places where a person had to write
  note: reference: goes on by itself at 4 of 4 places where a person had to write
"""


@pytest.mark.usefixtures("incidents")
def test_the_report_of_incident_1690_fits_a_screen(command: Command) -> None:
    assert command("atomic-1690/session.jsonl") == (0, ATOMIC, "")


@pytest.mark.usefixtures("incidents")
def test_the_json_has_the_published_shape(command: Command) -> None:
    code, out, err = command("atomic-1690/session.jsonl", "--policy", "atomic-1690", "--format", "json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert list(document) == ["schema_version", "sessions", "total", "sweep", "skipped"]
    (session,) = document["sessions"]
    assert (session["session"], session["agent"], session["file"]) == (
        "5720446f-3417-4664-a086-fb913735c9d5",
        "atomic",
        "atomic-1690/session.jsonl",
    )
    (policy,) = session["policies"]
    assert policy["departs"] == {
        "line": 388,
        "record": policy["departs"]["record"],
        "lines": [387, 388, 389],
        "recorded": "nothing until a person wrote",
        "policy": "continue",
    }
    assert (policy["policy"], policy["decisions"], policy["equal"], policy["undetermined"]) == ("atomic-1690", 11, 7, 0)
    assert {name: policy["verdict"][name] for name in ("bounded", "figure", "cycle")} == {
        "bounded": True,
        "figure": 5,
        "cycle": None,
    }
    assert policy["counterfactual"] == {
        "manual_continues_avoided": [0, 4],
        "compactions_avoided": [0, 0],
        "paid_summaries_avoided": [0, 0],
        "model_calls_avoided": [-4, 0],
        "tokens_avoided": [0, 0],
        "dollars_avoided": [0.0, 0.0],
        "hours_avoided": [0.0, 2.51],
    }


@pytest.mark.usefixtures("incidents")
def test_the_window_of_the_user_settles_what_the_file_does_not_say(command: Command) -> None:
    def policy(*words: str) -> dict[str, Any]:
        _, out, _ = command("atomic-1684/counter-leak.jsonl", "--policy", "atomic-1684", "-f", "json", *words)
        (one,) = json.loads(out)["sessions"][0]["policies"]
        return {name: one[name] for name in ("equal", "undetermined", "departures")}

    assert policy("--cap", "272000", "--max-output", "8192") == {"equal": 5, "undetermined": 0, "departures": 0}
    assert policy("--cap", "60_000")["departures"] == 2


def test_a_table_of_models_in_the_configuration(
    command: Command, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "forensics.toml"
    config.write_text(
        '[models."gpt-5.1-codex"]\ncap = 272_000\nmax-output = 8_192\nreserve = 16_384\n', encoding="utf-8"
    )
    _, out, _ = command((samples / "incidents" / "atomic-1690" / "session.jsonl").as_posix(), "-f", "json")
    sizes = json.loads(out)["sessions"][0]["sizes"]
    assert {name: sizes[name] for name in ("cap", "max_output", "reserve", "threshold")} == {
        "cap": {"tokens": 272_000, "basis": "option"},
        "max_output": {"tokens": 8_192, "basis": "option"},
        "reserve": {"tokens": 16_384, "basis": "option"},
        "threshold": {"tokens": 255_616, "basis": "option"},
    }
    config.write_text('[models."gpt-5.1-codex"]\ncaps = 1\n', encoding="utf-8")
    code, _, err = command("x")
    assert code == 2
    assert "give cap, max-output or reserve, not caps" in err


def test_a_policy_of_the_users_own(command: Command, samples: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(
        "from forensics.replay import Signal, policy\n"
        "@policy(start=0)\n"
        "def mine(state: int, signal: Signal) -> tuple[object, ...]:\n"
        '    """Never recovers."""\n'
        '    return state, "proceed"\n',
        encoding="utf-8",
    )
    session = (samples / "incidents" / "atomic-1690" / "session.jsonl").as_posix()
    code, out, _ = command(session, "--policy", f"{own.as_posix()},atomic-1690", "-f", "json")
    assert code == 0
    found = [(one["policy"], one["departs"]["line"]) for one in json.loads(out)["sessions"][0]["policies"]]
    assert found == [(own.as_posix(), 387), ("atomic-1690", 388)]


@pytest.mark.usefixtures("incidents")
def test_the_sweep_is_summed_over_the_sessions_of_a_log(command: Command) -> None:
    _, out, _ = command("pilotdeck/runtime.log", "--sweep", "max-output=4000,16000", "--natural", "667-1869")
    assert out.splitlines()[-7:] == [
        "  summaries cut off or empty, by output budget",
        "  max output  in force  reasoning  cut or empty",
        "  4,000          4,000  on         27 of 39",
        "  4,000          4,000  off        0 of 39",
        "  16,000        16,000  on         0 to 27 of 39",
        "  16,000        16,000  off        0 of 39",
        "  (what a summary needs beyond the budget on record is not known; --natural gives the lengths you know)",
    ]


@pytest.mark.usefixtures("incidents")
def test_many_sessions_are_a_line_each_with_a_total(command: Command) -> None:
    code, out, err = command(".")
    assert (code, err) == (0, "")
    assert (
        "031ee4de-3aa7-4dbd-a36f-a2eb021d8a84                3       0  ran the logic before pull request 1684" in out
    )
    assert "all 13 sessions with decisions; longest streak 2145 in ses_00192c1ffffefdwJ1WuKhgV14m" in out


def test_a_session_without_a_failure_holds_nothing_to_decide(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "calm.jsonl"
    file.write_text(
        '{"kind":"session","session":"s"}\n{"kind":"prompt","session":"s","origin":"human"}\n'
        '{"kind":"reply","session":"s","stop":"done"}\n',
        encoding="utf-8",
    )
    code, out, _ = command(file.as_posix())
    assert code == 0
    assert out == "1 session without a failed or cut reply or a compaction: nothing to decide\n"


def test_what_cannot_be_read_is_told(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n", encoding="utf-8")
    code, out, err = command(tmp_path.as_posix())
    assert code == 3
    assert out.startswith(f"not read: {tmp_path.as_posix()}/a.txt: ")
    assert err == "forensics: result: nothing was recognised (exit 3)\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--policy", "nope"), "--policy: no policy 'nope'; there are atomic-1684, atomic-1690, atomic-before, "),
        (("--policy", "atomic-1691"), "--policy: no policy 'atomic-1691'; did you mean 'atomic-169"),
        (("--format", "jsno"), "--format: 'jsno' does not fit; did you mean json?"),
        (("--sweep", "4000"), "--sweep: '4000' does not fit; for example max-output=4000"),
        (("--sweep", "max-output=0"), "--sweep: '0' does not fit; give a whole number from 1"),
        (("--natural", "5"), "--natural: '5' does not fit; give MIN-MAX, for example 667-1869"),
        (("--natural", "5-"), "--natural: '5-' does not fit; give MIN-MAX, for example 667-1869"),
        (("--natural=-5",), "--natural: '-5' does not fit; give MIN-MAX, for example 667-1869"),
        (("--natural", "9-1"), "--natural: '9-1' ends before it begins; for example 667-1869"),
        (("--cap", "big"), "--cap: 'big' does not fit; give a whole number from 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
@pytest.mark.usefixtures("incidents")
def test_wrong_usage_is_told_in_one_line(command: Command, words: tuple[str, ...], message: str) -> None:
    code, out, err = command("atomic-1690/session.jsonl", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"forensics: error: {message}")
    assert err.count("\n") == 1


def test_hostile_names_do_not_reach_the_screen(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "calm.jsonl"
    rows = [
        {"kind": "session", "session": "s\x1b[2J", "agent": "atomic"},
        {"kind": "prompt", "session": "s\x1b[2J", "origin": "human"},
        {"kind": "reply", "session": "s\x1b[2J", "stop": "error", "fault": "overflow"},
        {"kind": "prompt", "session": "s\x1b[2J", "origin": "human"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, out, _ = command(file.as_posix())
    assert code == 0
    assert "\x1b" not in out
    assert "s\\x1b[2J" in out


def test_every_sample_can_be_replayed(command: Command, samples: Path) -> None:
    code, out, err = command(samples.as_posix(), "-f", "json", "--cap", "100000", "--sweep", "max-output=4000")
    assert (code, err) == (0, "")
    for session in json.loads(out)["sessions"]:
        for policy in session["policies"]:
            assert policy["decisions"] == policy["equal"] + policy["undetermined"] + policy["departures"]
            for low, high in policy["counterfactual"].values():
                assert low is None or high is None or low <= high


def test_what_replay_writes_is_valid_and_told_by_the_schema(command: Command, samples: Path) -> None:
    _, out, _ = command(samples.as_posix(), "-f", "json", "--sweep", "max-output=4000")
    Draft202012Validator.check_schema(schema())
    Draft202012Validator(schema()).validate(json.loads(out))
    for name, part in schema()["$defs"].items():
        assert "properties" in part, name


def test_copies_of_a_session_are_told_once(command: Command, samples: Path, tmp_path: Path) -> None:
    """Atomic keeps a backup beside the session before each compaction."""
    lines = (samples / "incidents" / "atomic-1690" / "session.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "session.jsonl").write_bytes(b"".join(lines))
    (tmp_path / "session.jsonl.backup").write_bytes(b"".join(lines[:600]))
    _, out, _ = command(tmp_path.as_posix(), "-f", "json", "--strict")
    report = json.loads(out)
    assert [one["decisions"] for one in report["sessions"]] == [11]
    assert [one["reason"] for one in report["skipped"]] == [
        "another copy of session 5720446f-3417-4664-a086-fb913735c9d5 holds more of it"
    ]
    assert {one["policy"]: one["sessions"] for one in report["total"]}["reference"] == 1


@pytest.mark.usefixtures("incidents")
def test_every_decision_can_be_told(command: Command) -> None:
    _, out, _ = command("atomic-1684/session.jsonl", "-p", "atomic-before,atomic-1684", "--decisions")
    begin = out.splitlines().index("  every decision: = equal, x departs, ? undetermined")
    assert out.splitlines()[begin + 1 : begin + 5] == [
        "  row  told                           recorded                      atomic-before  atomic-1684",
        "  20   length stop at the output cap  nothing until a person wrote  = stop         x continue",
        "  32   length stop at the output cap  nothing until a person wrote  = stop         x continue",
        "  34   length stop at the output cap  nothing until a person wrote  = stop         x continue",
    ]
    _, out, _ = command("atomic-1684/session.jsonl", "-p", "atomic-1684", "--decisions", "-f", "json")
    assert json.loads(out)["sessions"][0]["steps"][0] == {
        "line": 20,
        "record": json.loads(out)["sessions"][0]["steps"][0]["record"],
        "told": ["length stop at the output cap"],
        "basis": "inferred",
        "recorded": "nothing until a person wrote",
        "answers": [{"policy": "atomic-1684", "agrees": "departs", "action": "continue"}],
    }
