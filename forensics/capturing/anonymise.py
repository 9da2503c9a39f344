"""Take out of records what is private, by the rules of their format: what no rule names is left out."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from math import isfinite
from typing import Any

import msgspec

from forensics.capturing.error_words import masked
from forensics.capturing.filler import CLOSED, LOREM, Filler
from forensics.writing import How, Piece, Rules, Writer, words

BASE_MS = 1_577_836_800_000
"""2020-01-01T00:00:00Z: where the first time of every capture is moved to."""
PATH = "/project"
_LEFT_OUT: Any = object()
_SECONDS = range(100_000_000, 100_000_000_000)
_MILLISECONDS = range(100_000_000_000, 100_000_000_000_000)
_VERSION = re.compile(r"v?\d{1,5}(?:\.\d{1,5}){0,2}(?:-(?:alpha|beta|rc|dev|next)(?:\.?\d{1,5})?)?")
_FRACTION = re.compile(r"\.(\d+)")
_WORD = re.compile(r"[^\W_]{5,}")
_FIGURES = re.compile(r"\d+(?:ms|s|h|k|kb|mb)?|\d+T\d+", re.IGNORECASE)
"""What is no word: a number, and what stands between two hyphens or colons of a time."""
PUBLIC = words(
    """anthropic openai openai-codex google google-vertex vertex amazon-bedrock bedrock azure azure-openai openrouter
    github-copilot deepseek mistral xai groq cerebras moonshot zai zhipu minimax alibaba qwen ollama lmstudio litellm
    openai-completions openai-responses openai-codex-responses anthropic-messages google-generative-ai
    google-gemini-cli azure-openai-responses bedrock-converse-stream cli delivery-mirror gateway-injected openclaw
    bash read write edit grep glob ls find list task todowrite todoread webfetch websearch exec process apply_patch
    patch read_file write_file edit_file list_dir run_command shell invalid skill question pi atomic opencode
    pilotdeck"""
)
"""Names of providers, interfaces and tools that everybody knows; models are always renamed."""


class Removed(msgspec.Struct):
    """What was done, counted: for the report of a capture."""

    texts: int = 0
    characters: int = 0
    errors: int = 0
    ids: int = 0
    names: int = 0
    times: int = 0
    fields: int = 0


class Anonymiser:
    """Anonymises the pieces of one capture. What is equal stays equal, what comes in an order stays in it.

    `finding` is the id of what is captured: captures of different findings share no id.
    """

    def __init__(self, writer: Writer, pieces: Sequence[Piece], *, keep_errors: bool, finding: str = "") -> None:
        self.removed = Removed()
        self._rules: Rules = writer.rules
        self._prefixes = writer.prefixes
        self._filler = Filler(writer.marks, keep_errors=keep_errors, moved=lambda text: _moved_text(text, self.shift))
        self._names: dict[str, str] = {}
        ids: set[str] = set()
        times: list[float] = []
        for piece in pieces:
            self._collect(piece.table, piece.value, ids, times)
        self.mark = _mark(finding, ids)
        """What every new id of this capture holds, and none of another's."""
        self._ids = _numbered(ids, writer.prefixes, self.mark)
        self.removed.ids = len(ids)
        self.shift = int(BASE_MS - min(times)) if times else 0
        """Milliseconds that every time is moved by."""

    def piece(self, piece: Piece) -> Piece:
        """Give the piece with nothing private in it."""
        return msgspec.structs.replace(piece, value=self._object(piece.table, piece.value))

    def name(self, name: str) -> str:
        """Give the new name of what has a name."""
        return self._names.get(name, name)

    def known(self, name: str) -> bool:
        """Whether a name is that of an id in the records, and not of a file."""
        return name.partition("/")[0] in self._ids

    def id(self, name: str) -> str:
        """Give the new name of an id; that of a branch or a row can be made of several."""
        if name in self._ids:
            return self._ids[name]
        mark = next((mark for mark in "/:" if mark in name), None)
        return name if mark is None else mark.join(self._ids.get(part, part) for part in name.split(mark))

    def _object(self, parent: str, value: dict[str, Any]) -> dict[str, Any]:
        made = {}
        for key, inner in value.items():
            rules = self._rules_of(parent, key)
            done = self._field(key, inner, rules)
            if done is _LEFT_OUT:
                self.removed.fields += 1
            else:
                made[key] = done
        return made

    def _rules_of(self, parent: str, key: str) -> tuple[How, ...]:
        return self._rules.get(f"{parent}.{key}") or self._rules.get(key) or ()

    def _field(self, key: str, value: Any, rules: tuple[How, ...]) -> Any:
        if value is None:
            return None if rules else _LEFT_OUT
        if isinstance(value, list) and "inside" in rules:
            done = (self._field(key, inner, rules) for inner in value)
            return [one for one in done if one is not _LEFT_OUT]
        for how in rules:
            done = self._done(how, key, value)
            if done is not _LEFT_OUT:
                return done
        return _LEFT_OUT

    def _done(self, how: How, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._object(key, value) if how == "inside" else {} if how == "empty" else _LEFT_OUT
        if isinstance(value, (bool, int, float)):
            return self._figure(how, value)
        if not isinstance(value, str):
            return _LEFT_OUT
        if isinstance(how, frozenset):
            return value if value in how else _LEFT_OUT
        return self._string(how, key, value)

    def _figure(self, how: How, value: float) -> Any:
        if how == "number":
            return value
        if how == "time" and not isinstance(value, bool):
            self.removed.times += 1
            return _moved_number(value, self.shift)
        return _LEFT_OUT

    def _string(self, how: How, key: str, value: str) -> Any:
        if how == "json":
            inner = _decoded(value)
            return _LEFT_OUT if inner is None else msgspec.json.encode(self._object(key, inner)).decode()
        if how == "text":
            self.removed.texts += 1
            self.removed.characters += len(value)
            return self._filler.text(value)
        if how == "error":
            self.removed.errors += 1
            return self._filler.error(value)
        if how == "words":
            return masked(value)
        if how == "id":
            return self.id(value)
        if how == "name":
            return self._named(value)
        if how == "time":
            self.removed.times += 1
            return _moved_text(value, self.shift) or _LEFT_OUT
        if how == "version":
            return value if _VERSION.fullmatch(value) else _LEFT_OUT
        return PATH if how == "path" else _LEFT_OUT

    def _named(self, value: str) -> str:
        if not value or value in PUBLIC:
            return value
        if value not in self._names:
            prefix = next((prefix for prefix in self._prefixes if value.startswith(prefix)), "")
            self._names[value] = f"{prefix}name-{len(self._names) + 1}"
            self.removed.names += 1
        return self._names[value]

    def _collect(self, parent: str, value: dict[str, Any], ids: set[str], times: list[float]) -> None:
        for key, inner in value.items():
            rules = self._rules_of(parent, key)
            for one in inner if isinstance(inner, list) else (inner,):
                if isinstance(one, dict) and "inside" in rules:
                    self._collect(key, one, ids, times)
                elif isinstance(one, str) and "json" in rules and (decoded := _decoded(one)) is not None:
                    self._collect(key, decoded, ids, times)
                elif isinstance(one, str) and "id" in rules and not _in_words(one, rules):
                    ids.add(one)
                elif "time" in rules and (moment := _moment(one)) is not None:
                    times.append(moment)


def _in_words(value: str, rules: tuple[How, ...]) -> bool:
    return not value or any(isinstance(how, frozenset) and value in how for how in rules)


def _mark(finding: str, ids: set[str]) -> str:
    """Tell a capture from all others: files of equal ids would be read as copies of one session.

    A keyed hash of the old ids, and short: the same capture made twice is the same, and it leads to no old id.
    """
    return blake2b(
        "\0".join(sorted(ids)).encode(errors="replace"), key=finding.encode()[:64], digest_size=4
    ).hexdigest()


def _numbered(ids: set[str], prefixes: tuple[str, ...], mark: str) -> dict[str, str]:
    """Give ids new names in their own order, which some formats sort by; what an id is of stays in it."""
    named = {}
    width = len(str(len(ids)))
    for number, one in enumerate(sorted(ids), 1):
        prefix = next((prefix for prefix in prefixes if one.startswith(prefix)), "")
        named[one] = f"{prefix}id{mark}-{number:0{width}}"
    return named


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _moment(value: Any) -> float | None:
    """Give a time in Unix milliseconds, whichever way it is written; `None` for what is no time."""
    if isinstance(value, str):
        moment = _parsed(value)
        return None if moment is None else moment.timestamp() * 1000
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    if int(value) in _SECONDS:
        return value * 1000
    return value if int(value) in _MILLISECONDS else None


def _moved_number(value: float, shift: int) -> float:
    if not isfinite(value):
        return 0
    if int(value) in _SECONDS:
        return value + (shift // 1000 if isinstance(value, int) else shift / 1000)
    return value + shift if int(value) in _MILLISECONDS else 0


def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moved_text(text: str, shift: int) -> str | None:
    """Move a time as ISO 8601 text, to UTC with as many decimals as it had; `None` for what is no time."""
    moment = _parsed(text)
    if moment is None:
        return None
    moved = (moment + timedelta(milliseconds=shift)).astimezone(UTC)
    fraction = _FRACTION.search(text)
    digits = min(len(fraction[1]), 6) if fraction else 0
    decimals = f".{moved.microsecond:06}"[: digits + 1] if digits else ""
    return f"{moved:%Y-%m-%dT%H:%M:%S}{decimals}Z"


def survivors(before: Sequence[Piece], written: bytes, writer: Writer, empty: bytes = b"") -> list[str]:
    """Give the words of the source's records that stand in what was written, the closed lists' own left out.

    Words of five letters or digits and more; figures alone are not words. `empty` is a file of the format without
    any record: its words are the format's own.
    """
    ours = _closed(writer) | set(_words(empty.decode(errors="replace")))
    private = {word for piece in before for text in _strings(piece.value) for word in _words(text)} - ours
    found = set(_words(written.decode(errors="replace")))
    return sorted(private & found)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _words(text: str) -> Iterator[str]:
    return (word.lower() for word in _WORD.findall(text) if not _FIGURES.fullmatch(word))


def _closed(writer: Writer) -> set[str]:
    texts = [*writer.rules, *PUBLIC, *CLOSED, *writer.prefixes, LOREM, PATH, writer.marks or ""]
    for rules in writer.rules.values():
        texts += [word for how in rules if isinstance(how, frozenset) for word in how]
    return {word for text in texts for word in _words(text)}
