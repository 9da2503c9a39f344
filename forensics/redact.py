"""What may leave the machine: personal details and secrets become names, the same thing always the same name."""

import contextlib
import getpass
import os
import re
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from forensics import detect, events, scan, summary
from forensics.events import fields
from forensics.inputs import Found
from forensics.parse import NotRecognised, Source, Unreadable, read
from forensics.personal import CUT, DETAILS, HOMES, ORDINARY, RANDOM, SECRETS, USERS, Rule
from forensics.summary import Coverage, Report
from forensics.timeline import File

if TYPE_CHECKING:
    from forensics.incident.model import Incident

_ROOT_HOME = re.compile(r"(?<![\w./])/root(?=/|\b)")
_NAME = re.compile(r"(?:key|credentials|email|user|host|ip|mac|card|account|number|phone)-\d+\Z")
_RULES = (*SECRETS, *USERS, *DETAILS, RANDOM, CUT)
_BLOCK = 1 << 20
_LONGEST = 80
_SHORTEST = 3
"""Characters of a user's name from which it is replaced where it stands alone."""


class Redactor:
    """Replaces secrets and personal details in text. One redactor per report: its names hold all through it.

    `bases` are the folders that absolute paths are shown relative to (POSIX separators); `users` and `hosts` are
    names known beforehand. Whatever `learn` is given is looked through for names of users, which are then replaced
    wherever they stand alone.
    """

    def __init__(self, bases: Iterable[str] = (), users: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self._bases = sorted((base.rstrip("/") + "/" for base in bases), key=len, reverse=True)
        self._names: dict[str, dict[str, str]] = defaultdict(dict)
        self._alone: dict[str, str] = {}
        self._known: re.Pattern[str] | None = None
        self._done: dict[str, str] = {}
        self._given = [("user", one) for one in users] + [("host", one) for one in hosts]

    def learn(self, value: Any) -> None:
        """Look for names of users in the strings of a JSON value, the keys of its objects included."""
        for text in dict.fromkeys(_strings(value)):
            lower = text.lower()
            for rule in USERS:
                if rule.may_be_in(text, lower):
                    for found in rule.pattern.finditer(text):
                        if rule.fits(found["it"]):
                            self._remember("user", found["it"])
            for kind, name in self._given:
                if name.lower() in lower:
                    self._remember(kind, name)

    def learn_file(self, path: Path) -> None:
        """Look for names of users in the home directories that a file speaks of; one that cannot be read has none."""
        with contextlib.suppress(OSError), path.open("rb") as stream:
            rest = b""
            while block := stream.read(_BLOCK):
                for found in HOMES.finditer(rest + block):
                    self._remember("user", (found[1] or found[2]).decode(errors="replace"))
                rest = block[-_LONGEST:]

    def _remember(self, kind: str, name: str) -> None:
        word = name.lower()
        if word in self._alone or len(word) < _SHORTEST or word in _ordinary() or _is_name(word):
            return
        self._alone[word] = self._name(kind, name)
        words = "|".join(re.escape(one) for one in sorted(self._alone, key=len, reverse=True))
        self._known = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", re.IGNORECASE)
        self._done.clear()

    def text(self, text: str) -> str:
        """Give the text without the secrets and personal details that can be told by their form, or were learned."""
        known = self._done.get(text)
        if known is None:
            known = self._done[text] = self._replaced(text)
        return known

    def _replaced(self, text: str) -> str:
        for base in self._bases:
            text = text.replace(base, "")
        lower = text.lower()
        for rule in _RULES:
            if rule.may_be_in(text, lower):
                text = self._without(rule, text)
        if self._known is not None:
            text = self._known.sub(lambda found: self._alone[found[0].lower()], text)
        return _ROOT_HOME.sub("~", text)

    def _without(self, rule: Rule, text: str) -> str:
        """Replace what a rule finds; what does not fit may hold something that does, one character further on."""
        group = "it" if "it" in rule.pattern.groupindex else 0
        parts: list[str] = []
        done = at = 0
        while found := rule.pattern.search(text, at):
            if not rule.fits(found[group]):
                at = found.start() + 1
                continue
            parts += [text[done : found.start(group)], self._name(rule.kind, found[group])]
            done = found.end(group)
            at = max(found.end(), found.start() + 1)
        return "".join([*parts, text[done:]]) if parts else text

    def value(self, value: Any) -> Any:
        """Redact every string of a JSON value, the keys of its objects included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    def _name(self, kind: str, thing: str) -> str:
        if _is_name(thing):
            return thing
        names = self._names[kind]
        same = thing.lower() if kind in {"user", "host", "email"} else thing
        return names.setdefault(same, f"{kind}-{len(names) + 1}")


def _is_name(thing: str) -> bool:
    return _NAME.match(thing) is not None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner)


@cache
def _ordinary() -> frozenset[str]:
    """Give the words that are never taken for a name by themselves: common ones, and those of our own documents."""
    from forensics.incident import model  # noqa: PLC0415  (it imports what this module is imported by)

    own: set[str] = set()
    for module in (detect, events, scan, summary, model):
        for thing in vars(module).values():
            if isinstance(thing, type) and issubclass(thing, msgspec.Struct):
                own.update(thing.__struct_fields__)
            own.update(one.lower() for one in get_args(thing) if isinstance(one, str))
    return ORDINARY | own


def _redactor(bases: Iterable[str], files: Iterable[Path]) -> Redactor:
    """Give a redactor that knows who and where we are, and whose home directories the files speak of."""
    users: list[str] = []
    with contextlib.suppress(OSError, KeyError, ImportError):
        users.append(getpass.getuser())
    host = socket.gethostname().partition(".")[0]
    redactor = Redactor(bases, users, [host] if host else [])
    for one in files:
        redactor.learn_file(one)
    return redactor


def redacted(report: Report, folder: str) -> Report:
    """Give the report as it may leave the machine. Paths become relative to `folder`, or to what they share."""
    content = msgspec.to_builtins(report)
    redactor = _redactor(_bases(report.coverage, folder), _files(report.coverage, folder))
    redactor.learn(content)
    return msgspec.convert(redactor.value(content), Report)


def redacted_incident(incident: "Incident", folder: str) -> "Incident":
    """Give the incident report as it may leave the machine, as `redacted` does."""
    from forensics.incident.model import Incident  # noqa: PLC0415  (only reports need the model)

    content = msgspec.to_builtins(incident)
    redactor = _redactor(_bases(incident.coverage, folder), _files(incident.coverage, folder))
    redactor.learn(content)
    clean = msgspec.convert(redactor.value(content), Incident)
    clean.redacted = True
    return clean


class RowCleaner:
    """Makes rows of the event table fit to be shared: texts are left out, personal details and secrets replaced.

    The files are read once beforehand, so that a user's name goes from the first row on.
    """

    def __init__(self, files: Sequence[Found], folder: str) -> None:
        paths = [one.name for one in files]
        self._redactor = _redactor(_bases_of(paths, folder), [one.path for one in files])
        self._redactor.learn(paths)
        for one in files:
            with contextlib.suppress(NotRecognised, Unreadable, OSError):
                for event in read(Source(one.path, one.name)):
                    self._redactor.learn([value for value in fields(event).values() if isinstance(value, str)])

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Give the row as it may leave the machine."""
        return {name: self._clean(name, value) for name, value in row.items() if name not in _TEXTS}

    def _clean(self, name: str, value: Any) -> Any:
        return self._redactor.text(value) if isinstance(value, str) and name not in _CLOSED else value


class TextCleaner:
    """Makes what is told of one file's sessions fit to be shared."""

    def __init__(self, file: File, folder: str) -> None:
        self._redactor = _redactor(_bases_of([file.name], folder), [Path(folder, file.name)])
        self._redactor.learn(file.name)
        for rows in (file.host, *(session.events for session in file.sessions)):
            for event in rows:
                self._redactor.learn([value for value in fields(event).values() if isinstance(value, str)])

    def __call__(self, text: str) -> str:
        """Give the text as it may leave the machine."""
        return self._redactor.text(text)


_TEXTS = frozenset({"text", "digest"})
"""Columns that hold the transcript's words, or let somebody guess them."""
_CLOSED = frozenset({"kind", "origin", "stop", "fault", "trigger", "outcome", "cap_source"})
"""Columns with a closed list of values."""


def _files(coverage: Coverage, folder: str) -> list[Path]:
    return [Path(folder, one.path) for one in coverage.inputs]


def _bases(coverage: Coverage, folder: str) -> list[str]:
    """Give the folders that paths are shown relative to: the one the user is in, and what other inputs share."""
    return _bases_of([one.path for one in coverage.inputs] + [one.path for one in coverage.skipped], folder)


def _bases_of(paths: Sequence[str], folder: str) -> list[str]:
    common = _common(path for path in paths if not path.startswith(folder.rstrip("/") + "/"))
    return [base for base in (folder, common) if base and base.strip("/")]


def _common(paths: Iterable[str]) -> str | None:
    """Give the folder that the absolute ones of these paths have in common."""
    folders = [str(PurePosixPath(path).parent) for path in paths if _is_absolute(path)]
    try:
        return os.path.commonpath(folders).replace("\\", "/") if folders else None
    except ValueError:  # drives that have nothing in common
        return None


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or re.match(r"[A-Za-z]:/", path) is not None
