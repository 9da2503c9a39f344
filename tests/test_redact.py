import msgspec
import pytest

from forensics.redact import Redactor, redacted
from forensics.scan import Input, Result, Skipped
from forensics.summary import Report, summarise

SECRETS = [
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx",
    "sk-proj-abcdefghijklmnop1234",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefghijkl",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    "hf_abcdefghijklmnopqrstuvwx",
    "npm_abcdefghijklmnopqrstuvwxyz012345",
]


@pytest.mark.parametrize(
    "text",
    [
        "read 3 files, 1,204 records, nothing found",
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "0123456789abcdef/v1",
        "samples/incidents/atomic-1690/session.jsonl",
        "src/home/page.ts:12",
        "npm install ccusage@20.0.24",
        "2026-07-09T10:00:00.000Z",
        "ses_09dc8fdffffe4FRlnOOekMRdzZ",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("frame", ["{}", "key={} in the log", '{{"apiKey": "{}"}}', "Authorization: Bearer {}"])
def test_keys_go_wherever_they_stand(secret: str, frame: str) -> None:
    text = Redactor().text(frame.format(secret))
    assert secret not in text
    assert "key-1" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/ann/work/a.jsonl", "/home/user-1/work/a.jsonl"),
        ("/Users/ann", "/Users/user-1"),
        (r"C:\Users\Ann Lee\x", r"C:\Users\user-1\x"),
        (r'{"cwd":"C:\\Users\\ann\\x"}', r'{"cwd":"C:\\Users\\user-1\\x"}'),
        ("/mnt/c/Users/ann/x", "/mnt/c/Users/user-1/x"),
        ("/root/.pi/agent", "~/.pi/agent"),
        ("--home-ann-project--/x.jsonl", "--home-user-1-project--/x.jsonl"),
        ("mail ann@example.org now", "mail email-1 now"),
        ("https://ann:pw@host.example/x", "https://credentials-1@host-1/x"),
        ("https://host.example/x?api_key=abc123&n=1", "https://host-1/x?api_key=key-1&n=1"),
        ("password: hunter22", "password: key-1"),
        ("x-api-key: abcdef123456", "x-api-key: key-1"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "key-1"),
    ],
)
def test_personal_details_become_names(text: str, expected: str) -> None:
    assert Redactor().text(text) == expected


def test_the_same_thing_has_the_same_name() -> None:
    redactor = Redactor()
    assert redactor.text("/home/ann /home/bob /Users/ann") == "/home/user-1 /home/user-2 /Users/user-1"
    assert redactor.value({"/home/bob": ["/home/ann", 3, None]}) == {"/home/user-2": ["/home/user-1", 3, None]}


def test_redacting_twice_changes_nothing() -> None:
    text = "password: hunter22 /home/ann ann@example.org https://a:b@c.example Bearer abcdefgh123"
    once = Redactor().text(text)
    assert Redactor().text(once) == once


def scanned(*paths: str) -> Report:
    blank = {"bytes": 1, "sessions": 0, "lines": 1, "records": 1, "malformed": [], "duplicates": 0, "salvaged": 0}
    inputs = [
        msgspec.convert(
            {**blank, "path": path, "parser": "plain", "agent": "demo", "unknown": {}, "notes": [f"see {path}"]}
            | {"companions": [], "failures_observable": "yes"},
            Input,
        )
        for path in paths
    ]
    skipped = Skipped(path="/home/ann/x", bytes=0, kind="unreadable", reason="no")
    return summarise([Result(input=one) for one in inputs], [skipped])


def test_paths_become_relative() -> None:
    report = redacted(
        scanned("/home/ann/project/logs/a.jsonl", "/home/ann/other/b.jsonl", "c.jsonl"), "/home/ann/project"
    )
    assert [one.path for one in report.coverage.inputs] == ["other/b.jsonl", "logs/a.jsonl", "c.jsonl"]
    assert [one.notes for one in report.coverage.inputs] == [
        ["see other/b.jsonl"],
        ["see logs/a.jsonl"],
        ["see c.jsonl"],
    ]
    assert report.coverage.skipped[0].path == "x"


def test_the_report_itself_is_left_alone() -> None:
    report = scanned("/home/ann/a.jsonl")
    redacted(report, "/nowhere")
    assert report.coverage.inputs[0].path == "/home/ann/a.jsonl"
