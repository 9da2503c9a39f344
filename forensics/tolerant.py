"""Get what can be got out of one damaged line of JSON, and say what was wrong with it."""

import json
from typing import Any, NamedTuple

from forensics.patterns import later

_DIGITS = 640
"""Python reads that many in any setting; `json` gives up on a whole record for one figure of more than 4,300."""


def _figure(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, strict=False)
_PATIENT = json.JSONDecoder(parse_constant=lambda _: None, parse_int=_figure, strict=False)
_SURROGATE = later("[\ud800-\udfff]")
_CONSTANT = later(r"\b(?:NaN|-?Infinity)\b")
_CONTROL = later(r"[\x01-\x1f]")


_SPACE = later(r"\s*")
MOST = 1 << 17
"""Records of one line that are read: a file whose line ends are lost is one line, but a line of millions is none."""


class Salvage(NamedTuple):
    """The JSON values found on a line, and what was wrong with it (`None`: nothing)."""

    values: list[Any]
    reason: str | None


def damage(line: bytes) -> str | None:
    """Say what is in a line of text that no program wrote there: NUL bytes, invalid UTF-8; `None` when nothing is."""
    reasons = ["NUL bytes"] if b"\0" in line else []
    if not line.isascii():
        try:
            line.decode()
        except UnicodeDecodeError as error:
            reasons.append(f"invalid UTF-8 at byte {error.start} of the line")
    return "; ".join(reasons) or None


def salvage(line: bytes) -> Salvage:
    """Read the JSON values of one line, however many, mending what can be mended without guessing.

    NUL bytes are dropped, invalid UTF-8 becomes U+FFFD, NaN and infinities become null, lone surrogates become
    U+FFFD; records written one after another on a line are all kept, up to `MOST`; a torn record is lost and said
    to be.
    """
    reasons: list[str] = []
    if b"\0" in line:
        reasons.append("NUL bytes")
        line = line.strip(b"\0").replace(b"\0", b"")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        reasons.append(f"invalid UTF-8 at byte {error.start} of the line")
        text = line.decode(errors="replace")
    values, trouble = _values(text.strip().removeprefix("\ufeff"))
    if trouble:
        reasons.append(trouble)
    if values and trouble is None and (_CONSTANT.search(text) or _CONTROL.search(text)):
        reasons.extend(_loosely_read(text))
    try:
        if "\\ud" in text.lower() and any(_has_surrogate(value) for value in values):
            reasons.append("lone surrogate")
            values = [_mended(value) for value in values]
    except RecursionError:
        return Salvage([], "nested too deeply")
    return Salvage(values, "; ".join(reasons) or None)


def canonical(value: Any) -> str:
    """Give the same text for the same JSON value, however it was laid out."""
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return repr(value)


def _values(text: str) -> tuple[list[Any], str | None]:
    values: list[Any] = []
    at, decode = 0, _DECODER.raw_decode
    while at < len(text):
        if len(values) == MOST:
            return values, f"more than {MOST:,} records on one line: the rest is passed over"
        try:
            value, end = decode(text, at)
        except RecursionError:
            return values, "nested too deeply"
        except json.JSONDecodeError as error:
            return values, _why(text, at, error)
        except ValueError:
            decode = _PATIENT.raw_decode
            continue
        values.append(value)
        space = _SPACE.match(text, end)
        at = space.end() if space else end
    return values, "several records on one line" if len(values) > 1 else None


def _why(text: str, at: int, error: json.JSONDecodeError) -> str:
    if at and not text[at:].lstrip().startswith(("{", "[")):
        return "text after the record"
    if not text.startswith(("{", "[")):
        return "not JSON"
    return f"torn or broken JSON: {error.msg} at character {error.pos}"


def _loosely_read(text: str) -> list[str]:
    found: list[str] = []
    try:
        json.JSONDecoder(parse_constant=found.append, parse_int=float, strict=False).decode(text)
        json.loads(text, parse_constant=lambda _: None, parse_int=float)
    except ValueError:
        return ["control character in a string"]
    return ["NaN or Infinity read as null"] if found else []


def _has_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(_has_surrogate(key) or _has_surrogate(inner) for key, inner in value.items())
    return isinstance(value, list) and any(map(_has_surrogate, value))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    return [_mended(inner) for inner in value] if isinstance(value, list) else value
