import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from forensics.events import SCHEMA
from forensics.reports.json import document
from forensics.scan import Options, Result, scan_file
from forensics.summary import SCHEMA_VERSION, Report, summarise


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(files("forensics").joinpath("schemas", "scan.json").read_bytes())
    Draft202012Validator.check_schema(content)
    return content


@pytest.fixture(scope="module")
def scanned(samples: Path) -> Report:
    paths = sorted(path for path in samples.glob("*s/*.jsonl") if path.is_file())
    results: list[Result] = [scan_file(path, path.relative_to(samples).as_posix(), Options()) for path in paths]
    return summarise(results, detectors=["manual-continue"])


def test_an_empty_scan_is_valid(schema: dict[str, Any]) -> None:
    Draft202012Validator(schema).validate(document(summarise([])))


def test_what_scan_writes_is_valid(schema: dict[str, Any], scanned: Report) -> None:
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(document(scanned))
    assert scanned.findings
    assert scanned.sessions


def test_no_name_is_written_that_the_schema_does_not_tell(schema: dict[str, Any], scanned: Report) -> None:
    assert list(_untold(document(scanned), schema, schema, "$")) == []


def _untold(value: Any, part: dict[str, Any], schema: dict[str, Any], place: str) -> Any:
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, dict) and "properties" in part:
        for name, inner in value.items():
            if name in part["properties"]:
                yield from _untold(inner, part["properties"][name], schema, f"{place}.{name}")
            else:
                yield f"{place}.{name}"
    elif isinstance(value, list) and "items" in part:
        for inner in value:
            yield from _untold(inner, part["items"], schema, f"{place}[]")


PROMISED = {
    "finding": "id detector severity confidence state agent file session message lines records start end measures "
    "bases intervals",
    "session": "session agent version file start end prompts replies errors length_stops aborted compactions "
    "manual_continues peak_context cap cap_source peak_ratio input_tokens output_tokens cost waiting_seconds",
    "compactions": "attempts summaries no_summary failed aborted unknown",
    "coverage": "files bytes lines records malformed duplicates salvaged unrecognised skipped inputs",
    "input": "path parser sessions lines records malformed duplicates failures_observable",
}


@pytest.mark.parametrize("part", PROMISED)
def test_version_1_keeps_its_names(schema: dict[str, Any], part: str) -> None:
    assert set(schema["$defs"][part]["required"]) >= set(PROMISED[part].split(" "))


def test_version_1_is_version_1(schema: dict[str, Any]) -> None:
    names = {"schema_version", "tool", "coverage", "summary", "sessions", "findings", "suppressed"}
    assert set(schema["required"]) >= names
    assert schema["properties"]["schema_version"]["const"] == SCHEMA_VERSION == 1


def test_every_column_says_what_it_means() -> None:
    assert all(column.dtype and column.meaning for column in SCHEMA.values())
