"""The command `forensics prove`: its outputs, its exit codes, its refusals."""

import json
from pathlib import Path

import pytest

from forensics.cli import run
from forensics.replay import policies

Capture = pytest.CaptureFixture[str]


def test_looking_is_not_failing(capfd: Capture) -> None:
    assert run(["prove", "opencode-before"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("opencode-before: 92 states\n  assumed: no-skips, something-to-compact\n")
    assert "    and then, for ever:\n    2. overflow → compact\n    3. summary → replay\n" in out
    assert err == ""


@pytest.mark.parametrize(
    ("required", "code", "words"),
    [
        ("bounded,loud", 0, "every required property holds (exit 0)"),
        ("paced:transient", 0, "every required property holds (exit 0)"),
    ],
)
def test_what_is_required_of_the_reference_holds(required: str, code: int, words: str, capfd: Capture) -> None:
    assert run(["prove", "reference", "--require", required]) == code
    assert words in capfd.readouterr().err


def test_a_lost_property_that_is_required_is_exit_1(capfd: Capture) -> None:
    assert run(["prove", "opencode-37584", "--require", "bounded", "--require", "paced:overflow"]) == 1
    assert "opencode-37584 loses paced:overflow (exit 1)" in capfd.readouterr().err
    assert run(["prove", "opencode-37584", "--require", "bounded:overflow"]) == 0


def test_options_and_assumptions(capfd: Capture) -> None:
    assert (
        run(["prove", "opencode-37584", "--set", "opencode-37584.count-threshold=no", "--require", "bounded:context"])
        == 1
    )
    assert "count-threshold = False" in capfd.readouterr().out
    assumed = ["--assume", "summaries-succeed", "--assume", "compaction-shrinks"]
    assert run(["prove", "pilotdeck-after", "--require", "bounded:context", *assumed]) == 0


def test_only_what_is_required_is_told(capfd: Capture) -> None:
    assert run(["prove", "pi", "--require", "loud,bounded:overflow"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["loud", "bounded"]
    told = [line.split(";")[0] for line in lines if line.startswith("  ") and ("; " in line) and line[2] != " "]
    assert told == ["  loud: no", "  bounded:overflow: yes"]
    assert not any("paced" in line or "hands-free" in line for line in lines)
    assert run(["prove", "pi", "--require", "loud", "-v"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:9]] == [
        "loud", "bounded", "paced", "hands-free", "fresh", "accounted", "contained",
    ]  # fmt: skip


def test_of_many_policies_a_table_and_a_reason_for_each_loss(capfd: Capture) -> None:
    assert run(["prove"]) == 0
    lines = capfd.readouterr().out.splitlines()
    gap = lines.index("")
    assert lines[0].split() == [
        "policy", "states", "bounded", "paced", "hands-free", "loud", "fresh", "accounted", "contained",
    ]  # fmt: skip
    assert len(lines[1:gap]) == len(policies())
    assert sum(line.split().count("no") for line in lines[1:gap]) == len(lines[gap + 1 :])
    assert any(line.startswith("opencode-before, bounded: no: overflow, context, length; ") for line in lines)
    assert not any("for ever:" in line for line in lines)
    assert run(["prove", "pi", "kilo", "reference", "--require", "bounded:overflow"]) == 0
    assert capfd.readouterr().out.splitlines()[0].split() == ["policy", "states", "bounded:overflow"]
    assert run(["prove", "pi", "kilo", "opencode-before", "-v"]) == 0
    assert "    and then, for ever:\n" in capfd.readouterr().out


def test_json_is_a_certificate_that_verifies(tmp_path: Path, capfd: Capture) -> None:
    assert run(["prove", "pi", "kilo", "--format", "json"]) == 0
    out = capfd.readouterr().out
    document = json.loads(out)
    assert list(document["policies"][0]["verdicts"]) == [
        "bounded",
        "paced",
        "hands-free",
        "loud",
        "fresh",
        "accounted",
        "contained",
    ]
    path = tmp_path / "cert.json"
    path.write_text(out, encoding="utf-8")
    assert run(["prove", "--verify", str(path)]) == 0
    assert "2 policies checked, every claim holds" in capfd.readouterr().err
    document["policies"][0]["states"] = 1
    path.write_text(json.dumps(document))
    assert run(["prove", "--verify", str(path)]) == 1
    assert "pi: all failures: 1 states claimed" in capfd.readouterr().out


def test_markdown_is_the_table_with_a_reason_for_each_verdict(capfd: Capture) -> None:
    assert run(["prove", "reference", "-f", "markdown"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("| policy | states | bounded | paced | hands-free | loud | fresh | accounted | contained |\n")
    assert "- reference, bounded: yes; at most 3 recoveries, 4 model calls, 2 paid summaries\n" in out


def test_a_witness_is_a_transcript_that_scan_reads(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "loop.jsonl"
    assert run(["prove", "opencode-before", "--require", "bounded:overflow", "--witness", str(path)]) == 1
    assert "opencode-before loses bounded:overflow: overflow → compact" in capfd.readouterr().err
    assert run(["scan", str(path), "--fail-on", "error"]) == 1
    assert "compaction-loop" in capfd.readouterr().out


def test_a_policy_of_the_users_own(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from forensics.replay import policy\n\n"
        "@policy(start=0)\n"
        "def mine(state, signal):\n"
        '    """Count for ever."""\n'
        '    return state + 1, "proceed"\n'
    )
    assert run(["prove", str(path), "--max-states", "1000"]) == 2
    assert "mine: more than 1,000 pairs" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "prove: no policy 'nope'; there are atomic-1684, atomic-1690, atomic-before, atomic-head, kilo, "),
        (["pii"], "no policy 'pii'; did you mean 'pi'?"),
        (["pi", "--require", "bound"], "there is no property 'bound'"),
        (["pi", "--require", "bounded:overflows"], "there is no class of failure 'overflows'"),
        (["pi", "--assume", "luck"], "unknown assumption 'luck'"),
        (["pi", "--set", "kilo.limit=2"], "'kilo' is not among the policies to prove"),
        (["kilo", "--set", "kilo.limits=2"], "kilo has no option 'limits'"),
        (["kilo", "--set", "kilo.limit=two"], "give a whole number"),
        (["kilo", "--set", "limit"], "is not policy.option=value"),
        (["pi", "--format", "yaml"], "'yaml' does not fit"),
        (["reference", "--witness", "x.jsonl"], "no property is lost"),
        (["pi", "--witness", "no/such/folder/x.jsonl"], "cannot be written"),
        (["--verify", "no-such-file"], "No such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments: list[str], words: str, capfd: Capture) -> None:
    assert run(["prove", *arguments]) == 2
    err = capfd.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_the_assumptions_are_listed(capfd: Capture) -> None:
    assert run(["prove", "--assume", "help"]) == 0
    assert "summaries-succeed" in capfd.readouterr().out


def test_one_policy_checked_is_told_in_the_singular(capfd: Capture, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    assert run(["prove", "reference", "-f", "json"]) == 0
    path.write_text(capfd.readouterr().out)
    assert run(["prove", "--verify", str(path)]) == 0
    assert "1 policy checked, every claim holds" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a certificate: not JSON"),
        ("[1]", "not a certificate: Expected object, got array"),
        ('{"schema_version": 1}', "not a certificate: Object missing required field alphabet"),
    ],
)
def test_what_is_no_certificate_is_said_so_in_one_line(text: str, words: str, tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(text)
    assert run(["prove", "--verify", str(path)]) == 2
    err = capfd.readouterr().err
    assert words in err
    assert err.count("\n") == 1
