"""Puts secrets, personal details and injections into every field of a file, whatever its format."""

import json
import re
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KINDS: dict[str, tuple[str, str]] = {
    "anthropic key": ("sk-ant-api03-PlantedAbCdEfGhIjKlMnOp", "PlantedAbCdEfGhIjKlMnOp"),
    "openai key": ("sk-proj-plantedabcdefghijklmnop", "plantedabcdefghijklmnop"),
    "openrouter key": ("sk-or-v1-planted0123456789abcdef0123", "planted0123456789abcdef0123"),
    "github token": ("ghp_Planted0123456789abcdefghijklmnop", "Planted0123456789abcdefghijklmnop"),
    "github fine-grained token": ("github_pat_11PLANTED0abcdefghij_klmnop", "PLANTED0abcdefghij"),
    "gitlab token": ("glpat-Planted0123456789abc", "Planted0123456789abc"),
    "slack token": ("xoxb-123456789012-plantedtoken", "plantedtoken"),
    "slack webhook": ("https://hooks.slack.com/services/T0PLANTED/B0PLANTED/XPlantedHook", "XPlantedHook"),
    "discord webhook": ("https://discord.com/api/webhooks/123456/planted-hook-xyz", "planted-hook-xyz"),
    "aws access key": ("AKIAPLANTEDEXAMPLE12", "AKIAPLANTEDEXAMPLE12"),
    "aws secret": ("aws_secret_access_key = wJalrPLANTED/K7MDENG/bPxRfiCYEX", "wJalrPLANTED"),
    "google key": ("AIzaSyPLANTED890abcdefghijklmnopqrstuv", "AIzaSyPLANTED890abcdefghijklmnopqrstuv"),
    "google client secret": ("GOCSPX-Planted0123456789abcd", "Planted0123456789abcd"),
    "azure storage key": ("AccountKey=PLANTEDvdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ==", "PLANTEDvdM02"),
    "shared access signature": ("https://x.blob.core.windows.net/c?sv=1&sig=PLANTEDsig%3D", "PLANTEDsig"),
    "json web token": ("eyJhbGciOiJQTEFOVCJ9.eyJzdWIiOiJwbGFudGVkIn0.PLANTEDsignature", "PLANTEDsignature"),
    "stripe key": ("sk_live_PLANTEDqLyjWDarjtT1zdp7dc", "PLANTEDqLyjWDarjtT1zdp7dc"),
    "sendgrid key": ("SG.PLANTEDvQFYQlKU0ufo8x5d1A.PLANTEDf9DHoTf09kqeF8tAmbih", "PLANTEDvQFYQlKU0ufo8x5d1A"),
    "twilio key": ("SK0a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a", "SK0a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a"),
    "telegram token": ("123456789:AAPLANTED28fd-AbCdEfGhIjKlMnOpQrS", "AAPLANTED28fd"),
    "hugging face token": ("hf_PLANTEDabcdefghijklmnopqr", "PLANTEDabcdefghijklmnopqr"),
    "npm token": ("npm_PLANTEDghijklmnopqrstuvwxyz012345", "PLANTEDghijklmnopqrstuvwxyz012345"),
    "private key": ("-----BEGIN OPENSSH PRIVATE KEY----- PLANTEDb3 -----END OPENSSH PRIVATE KEY-----", "PLANTEDb3"),
    "public key": ("ssh-ed25519 AAAAC3PLANTED1lZDI1NTE5AAAAIJ", "AAAAC3PLANTED1lZDI1NTE5AAAAIJ"),
    "basic authorization": ("Authorization: Basic UExBTlRFRDpodW50ZXI=", "UExBTlRFRDpodW50ZXI"),
    "bearer token": ("Bearer plantedbearertoken0123", "plantedbearertoken0123"),
    "cookie": ("Cookie: session=plantedcookie1; theme=plantedcookie2", "plantedcookie"),
    "password": ("password: plantedhunter2", "plantedhunter2"),
    "environment variable": ("export ACME_API_TOKEN=plantedenvtoken", "plantedenvtoken"),
    "flag": ("--password plantedflagpass", "plantedflagpass"),
    "url with credentials": ("postgres://dbuser:plantedpw@db.planted-corp.example/prod", "plantedpw"),
    "database host": ("postgres://dbuser:x@db.plantedhost-corp.example/prod", "plantedhost-corp"),
    "query key": ("https://api.openai.com/v1?api_key=plantedquerykey", "plantedquerykey"),
    "home directory": ("/home/zephyrine/clients/plan.md", "zephyrine"),
    "mac home directory": ("/Users/quillon/Desktop/x", "quillon"),
    "windows home directory": (r"C:\Users\Theodric\AppData\x", "theodric"),
    "encoded home directory": ("file%3A%2F%2F%2Fhome%2Fmarigold%2Fx", "marigold"),
    "user alone": ("zephyrine was here", "zephyrine"),
    "e-mail address": ("ann.planted@corp-planted.io", "ann.planted"),
    "ssh target": ("ssh ludovica@plantedbox", "plantedbox"),
    "file server": (r"\\PLANTEDSRV\share\x", "plantedsrv"),
    "private host": ("build7.plantednet.internal", "plantednet"),
    "company host": ("https://jira.plantedcorp.io/browse/X-1", "plantedcorp"),
    "host name": ("hostname=PLANTED-MACBOOK", "planted-macbook"),
    "ip address": ("10.73.91.204", "10.73.91.204"),
    "ipv6 address": ("2001:db8:85a3::8a2e:370:7334", "2001:db8:85a3"),
    "mac address": ("3c:22:fb:12:ab:9f", "3c:22:fb:12:ab:9f"),
    "credit card": ("4111 1111 1111 1111", "4111 1111 1111 1111"),
    "bank account": ("DE89 3704 0044 0532 0130 00", "0044 0532 0130"),
    "phone number": ("+49 170 1234567", "170 1234567"),
}  # fmt: skip
"""By kind: what is planted, and what of it must not be found afterwards."""

INJECTIONS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "](javascript:alert(1))",
    "| table | breaks |",
    "\x1b[31m\x1b]0;title\x07",
    "\u202etxet live\u202c",
    '=cmd|" /C calc"!A0',
    "[bold red]markup[/bold red]",
    "::error file=a::injected",
    "{{ 7 * 7 }} {% for x in y %}",
    "$\\frac{1}{0}$ @everyone #1 www.planted.example",
    "--> ]]> */ </style></svg>",
)

_STRUCTURE = frozenset(
    """type role kind customType stopReason stop finish status mode api origin trigger outcome fault cap_source ts time
    timestamp created completed updated version level event stage reason state source schemaVersion
    kindOfEvent""".split()  # noqa: SIM905  (a list of words)
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT")
_PLAIN_WORD = re.compile(r"[a-z][a-z_.-]{0,24}\Z")


class Planter:
    """Adds one planted thing to each string, always the same to the same string, so that ids still agree."""

    def __init__(self, things: Sequence[str]) -> None:
        self._things = things
        self._chosen: dict[str, str] = {}
        self.planted: set[str] = set()

    def text(self, text: str) -> str:
        """Give the text with a thing in it."""
        if text not in self._chosen:
            thing = self._things[len(self._chosen) % len(self._things)]
            self._chosen[text] = f"{text} {thing} "
            self.planted.add(thing)
        return self._chosen[text]

    def value(self, value: Any, key: str = "", *, outermost: bool = False) -> Any:
        """Give a JSON value with a thing in each of its strings, and one more key in each of its objects.

        The outermost object of a file's beginning gets none: by its keys the format is told.
        """
        if isinstance(value, str):
            keep = key in _STRUCTURE or _TIME.match(value) or (_PLAIN_WORD.match(value) and key != "text")
            return value if keep else self.text(value)
        if isinstance(value, list):
            return [self.value(one, key) for one in value]
        if isinstance(value, dict):
            found = {name: self.value(inner, name) for name, inner in value.items()}
            return (
                found
                if outermost
                else found | {self.text(f"extra {len(self._chosen) % len(self._things)}"): self.text("value")}
            )
        return value


def plant(source: Path, target: Path, things: Sequence[str]) -> set[str]:
    """Write a copy of a file with things in all its fields; give the things that are in it."""
    planter = Planter(things)
    if source.is_dir():
        for one in sorted(source.rglob("*")):
            if one.is_file():
                into = target / one.relative_to(source)
                into.parent.mkdir(parents=True, exist_ok=True)
                _file(one, into, planter)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        _file(source, target, planter)
    return planter.planted


def _file(source: Path, target: Path, planter: Planter) -> None:
    if source.read_bytes().startswith(b"SQLite format 3"):
        shutil.copy(source, target)
        _database(target, planter)
        return
    text = source.read_text(encoding="utf-8", errors="surrogateescape")
    start = text.find("\n{\n") + 1  # an export can begin with a line that is no JSON
    try:
        changed = text[:start] + json.dumps(planter.value(json.loads(text[start:]), outermost=True), indent=1)
    except json.JSONDecodeError:
        changed = "".join(_line(line, planter, at) for at, line in enumerate(text.splitlines(keepends=True)))
    target.write_text(changed, encoding="utf-8", errors="surrogateescape")


def _line(line: str, planter: Planter, at: int) -> str:
    end = line[len(line.rstrip("\r\n")) :]
    body = line[: len(line) - len(end)]
    start = body.find("{")
    if start >= 0:
        try:
            return body[:start] + json.dumps(planter.value(json.loads(body[start:]), outermost=at == 0)) + end
        except json.JSONDecodeError:
            pass
    return planter.text(body) + end if body.strip() else line


def _database(path: Path, planter: Planter) -> None:
    with sqlite3.connect(path) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in names:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            for column in columns:
                for (value,) in connection.execute(f'SELECT DISTINCT "{column}" FROM "{table}"').fetchall():
                    if isinstance(value, str) and column not in _STRUCTURE:
                        new = _cell(value, column, planter)
                        connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?', (new, value))
    connection.close()


def _cell(value: str, column: str, planter: Planter) -> str:
    if value[:1] in "{[":
        try:
            return json.dumps(planter.value(json.loads(value)))
        except json.JSONDecodeError:
            pass
    return str(planter.value(value, column))
