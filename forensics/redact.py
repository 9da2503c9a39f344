"""What may leave the machine: personal details and secrets become names, the same thing always the same name."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from forensics.summary import Coverage, Report

if TYPE_CHECKING:
    from forensics.incident.model import Incident

_HOME = re.compile(
    r"""(?:(?<![\w.\-])|(?<=/mnt/[a-z]))(?P<root>(?:[A-Za-z]:)?[\\/]+(?:home|Users|Documents\ and\ Settings)[\\/]+)
        (?P<user>[^\\/\s"'`<>|:*?,;()\[\]{}]+(?:\ [^\\/\s"'`<>|:*?,;()\[\]{}]+)*(?=[\\/])
            |[^\\/\s"'`<>|:*?,;()\[\]{}]+)""",
    re.VERBOSE,
)
_ROOT_HOME = re.compile(r"(?<![\w./])/root(?=/|\b)")
_DASHED_HOME = re.compile(r"(?P<root>-(?:home|Users)-)(?P<user>[A-Za-z0-9_.]+)")
"""A home directory as agents spell it in the name of a session's folder: `--home-ann-project--`."""
_EMAIL = re.compile(r"[A-Za-z0-9._%+\-]+@[A-Za-z0-9](?:[A-Za-z0-9\-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}")
_CREDENTIALS = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.\-]*://)(?P<secret>[^\s/@\"'<>]+)@", re.IGNORECASE)
_LABELLED = re.compile(
    r"""(?P<label>(?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|refresh[_-]?token|token|secret|client[_-]?secret
        |passw(?:or)?d|pwd|authorization|x-api-key|private[_-]?key|session[_-]?key|cookie|signature|sig)
        ["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)
        (?P<secret>[^\s"'&,;<>]{6,})""",
    re.VERBOSE | re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<label>\b(?:bearer|basic)\s+)(?P<secret>[A-Za-z0-9._~+/=\-]{8,})", re.IGNORECASE)
_KEYS = re.compile(
    r"""-----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\Z)
        |\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_\-]{12,}
        |\b(?:gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w\-]{16,}|xox[abeprs]-[\w\-]{10,}|xapp-[\w\-]{10,})
        |\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b
        |\bAIza[\w\-]{30,}|\bya29\.[\w\-]{16,}
        |\beyJ[\w\-]{8,}\.[\w\-]{8,}(?:\.[\w\-]*)?
        |\b(?:hf|npm|dop_v1|pypi|gsk|xai|SG|AGE-SECRET-KEY)[-_.][\w\-.]{16,}
        |\b[0-9]{8,10}:AA[\w\-]{30,}""",
    re.VERBOSE | re.DOTALL,
)
_QUERY = re.compile(
    r"(?P<label>[?&][\w.\-]*(?:key|token|sig|secret|auth|code|password)[\w.\-]*=)(?P<secret>[^&\s\"']+)", re.IGNORECASE
)


class Redactor:
    """Replaces secrets and personal details in text. One redactor per report: its names hold all through it.

    `bases` are the folders that absolute paths are shown relative to (POSIX separators).
    """

    def __init__(self, bases: Iterable[str] = ()) -> None:
        self._bases = sorted((base.rstrip("/") + "/" for base in bases), key=len, reverse=True)
        self._names: dict[str, dict[str, str]] = defaultdict(dict)

    def text(self, text: str) -> str:
        """Give the text without the secrets and personal details that can be told by their form."""
        for base in self._bases:
            text = text.replace(base, "")
        text = _KEYS.sub(lambda found: self._name("key", found[0]), text)
        text = _CREDENTIALS.sub(lambda found: f"{found['scheme']}{self._name('credentials', found['secret'])}@", text)
        text = _QUERY.sub(self._labelled, text)
        text = _LABELLED.sub(self._labelled, text)
        text = _BEARER.sub(self._labelled, text)
        text = _EMAIL.sub(self._email, text)
        text = _HOME.sub(lambda found: found["root"] + self._name("user", found["user"]), text)
        text = _DASHED_HOME.sub(lambda found: found["root"] + self._name("user", found["user"]), text)
        return _ROOT_HOME.sub("~", text)

    def value(self, value: Any) -> Any:
        """Redact every string of a JSON value, the keys of its objects included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, list) else value

    def _email(self, found: re.Match[str]) -> str:
        local = found[0].partition("@")[0]
        return found[0] if _is_name(local) else self._name("email", found[0].lower())

    def _labelled(self, found: re.Match[str]) -> str:
        secret = found["secret"]
        return found["label"] + (secret if _is_name(secret) else self._name("key", secret))

    def _name(self, kind: str, thing: str) -> str:
        if _is_name(thing):
            return thing
        names = self._names[kind]
        return names.setdefault(thing, f"{kind}-{len(names) + 1}")


_NAME = re.compile(r"(?:key|credentials|email|user)-\d+\Z")


def _is_name(thing: str) -> bool:
    return _NAME.match(thing) is not None


def redacted(report: Report, folder: str) -> Report:
    """Give the report as it may leave the machine. Paths become relative to `folder`, or to what they share."""
    redactor = Redactor(_bases(report.coverage, folder))
    return msgspec.convert(redactor.value(msgspec.to_builtins(report)), Report)


def redacted_incident(incident: "Incident", folder: str) -> "Incident":
    """Give the incident report as it may leave the machine, as `redacted` does."""
    from forensics.incident.model import Incident  # noqa: PLC0415  (only reports need the model)

    redactor = Redactor(_bases(incident.coverage, folder))
    clean = msgspec.convert(redactor.value(msgspec.to_builtins(incident)), Incident)
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
