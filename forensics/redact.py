"""What may leave the machine: personal details and secrets become names, the same thing always the same name."""

import contextlib
import getpass
import os
import re
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from forensics import detect, events, scan, summary
from forensics.personal import DETAILS, ORDINARY, RANDOM, SECRETS, USERS, Rule
from forensics.summary import Coverage, Report

if TYPE_CHECKING:
    from forensics.incident.model import Incident

_ROOT_HOME = re.compile(r"(?<![\w./])/root(?=/|\b)")
_NAME = re.compile(r"(?:key|credentials|email|user|host|ip|mac|card|account|number|phone)-\d+\Z")
_RULES = (*SECRETS, *USERS, *DETAILS, RANDOM)
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
                text = rule.pattern.sub(lambda found, rule=rule: self._put(rule, found), text)  # type: ignore[misc]
        if self._known is not None:
            text = self._known.sub(lambda found: self._alone[found[0].lower()], text)
        return _ROOT_HOME.sub("~", text)

    def _put(self, rule: Rule, found: re.Match[str]) -> str:
        group = "it" if "it" in rule.pattern.groupindex else 0
        secret = found[group]
        if not rule.fits(secret):
            return found[0]
        start, end = found.start(group) - found.start(), found.end(group) - found.start()
        return found[0][:start] + self._name(rule.kind, secret) + found[0][end:]

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


def _redactor(coverage: Coverage, folder: str) -> Redactor:
    """Give a redactor that knows where the report was made."""
    users: list[str] = []
    with contextlib.suppress(OSError, KeyError, ImportError):
        users.append(getpass.getuser())
    host = socket.gethostname().partition(".")[0]
    return Redactor(_bases(coverage, folder), users, [host] if host else [])


def redacted(report: Report, folder: str) -> Report:
    """Give the report as it may leave the machine. Paths become relative to `folder`, or to what they share."""
    content = msgspec.to_builtins(report)
    redactor = _redactor(report.coverage, folder)
    redactor.learn(content)
    return msgspec.convert(redactor.value(content), Report)


def redacted_incident(incident: "Incident", folder: str) -> "Incident":
    """Give the incident report as it may leave the machine, as `redacted` does."""
    from forensics.incident.model import Incident  # noqa: PLC0415  (only reports need the model)

    content = msgspec.to_builtins(incident)
    redactor = _redactor(incident.coverage, folder)
    redactor.learn(content)
    clean = msgspec.convert(redactor.value(content), Incident)
    clean.redacted = True
    return clean


def _bases(coverage: Coverage, folder: str) -> list[str]:
    """Give the folders that paths are shown relative to: the one the user is in, and what other inputs share."""
    paths = [one.path for one in coverage.inputs] + [one.path for one in coverage.skipped]
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
