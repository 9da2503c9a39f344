"""Make what was got out of a damaged record fit what a reader asks for, field by field, and say what does not."""

from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET

from forensics.sane import FIRST, LAST, LIMIT, NO_TIME
from forensics.tolerant import salvage

NAMED = 5
"""Fields of one line that are named, where it has more that do not fit."""
_BOUNDS = (
    (f"<= {(LIMIT >> 2) - 1}", "below 2^51"),
    (f"<= {LIMIT - 1}", "below 2^53"),
    (f"< {float(LIMIT)}", "below 2^53"),
    (">= 0.0", ">= 0"),
)

T = TypeVar("T", bound=msgspec.Struct)


def rescue(line: bytes, kind: type[T]) -> tuple[list[T], str]:
    """Read a line that the decoder refused: its records as far as they fit `kind`, and what was wrong with it."""
    rescued = salvage(line)
    lost: list[str] = []
    records = [record for value in rescued.values if (record := lenient(value, kind, lost)) is not None]
    why = reason_of(rescued.reason, lost)
    return records, why or ("not read at the first try" if records else "not a JSON object")


def reason_of(damage: str | None, lost: list[str]) -> str:
    """Say what was wrong with a line: its damage, and the first of the fields that did not fit."""
    reasons = [] if damage is None else [damage]
    reasons += lost[:NAMED]
    if len(lost) > NAMED:
        reasons.append(f"{len(lost) - NAMED} more fields")
    return "; ".join(reasons)


def lenient(value: Any, kind: type[T], lost: list[str] | None = None, within: str = "") -> T | None:
    """Convert a JSON object field by field: a field of an unexpected shape is left out, the record is kept.

    In a list of records each is converted for itself. `lost` takes a sentence for each field that did not fit.
    """
    lost = [] if lost is None else lost
    if not isinstance(value, dict):
        if within:
            lost.append(f"field {within} is not an object")
        return None
    known: dict[str, Any] = {}
    for field in _fields(kind):
        if field.encode_name not in value:
            continue
        inner = value[field.encode_name]
        if field.type is msgspec.Raw:
            known[field.name] = msgspec.Raw(msgspec.json.encode(inner))
            continue
        found = fitted(inner, field.type, lost, f"{within}.{field.encode_name}" if within else field.encode_name)
        if found is not UNSET:
            known[field.name] = found
    try:
        return kind(**known)
    except TypeError:  # a field without a default is missing
        lost.append(f"field {within or 'of the record'} lacks what it must have")
        return None


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def fitted(value: Any, annotation: Any, lost: list[str], name: str) -> Any:
    """Convert one field's value; `UNSET` when nothing of it can be used. `lost` takes what did not fit."""
    try:
        return msgspec.convert(value, annotation)
    except (ValueError, OverflowError) as error:
        why = _odd(error)
    if isinstance(value, list):
        items = next((get_args(one)[0] for one in _options(annotation) if get_origin(one) is list), None)
        struct = None if items is None else _struct_of(items)
        if struct is not None:
            parts = (lenient(item, struct, lost, f"{name}[{at}]") for at, item in enumerate(value))
            return [part for part in parts if part is not None]
    if isinstance(value, dict) and (struct := _struct_of(annotation)) is not None:
        part = lenient(value, struct, lost, name)
        return UNSET if part is None else part
    try:
        found = msgspec.convert(value, annotation, strict=False)
    except (ValueError, OverflowError):
        found = UNSET
    lost.append(f"field {name} {why}" + ("" if found is UNSET else " (converted)"))
    return found


def _odd(error: Exception) -> str:
    """Say how a value does not fit, without the value: it may be anybody's words."""
    said = str(error).partition(" - at ")[0].replace("`", "").replace(" | null", "")
    if any(str(bound) in said for bound in (FIRST, LAST - 1, LAST)):
        return NO_TIME
    for bound, words in _BOUNDS:
        said = said.replace(bound, words)
    if said.startswith("Expected "):
        return "is not " + said.removeprefix("Expected ").replace(", got ", " but ")
    return "is none of the words it may be" if said.startswith("Invalid enum value") else f"does not fit: {said}"


def _options(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)


def _struct_of(annotation: Any) -> type[msgspec.Struct] | None:
    options = _options(annotation)
    return next((kind for kind in options if isinstance(kind, type) and issubclass(kind, msgspec.Struct)), None)
