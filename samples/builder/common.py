"""What the builders share: a clock, ids and filler that are the same on every machine and every run."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

_SENTENCES = (
    "The importer reads one row at a time and keeps the last header.",
    "Two of the fixtures have a trailing separator.",
    "I moved the check in front of the loop.",
    "The second pass only looks at rows with a date.",
    "That test fails because the month is written as a word.",
    "The table has four columns now and the totals agree.",
    "Next I will look at the export of the yearly file.",
    "The helper returned nothing for an empty line, which is mended.",
)


def ms(text: str) -> int:
    """UTC milliseconds of an ISO 8601 time."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def iso(at: int) -> str:
    """ISO 8601 with milliseconds and Z."""
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{at % 1000:03d}Z"


def number(seed: str, low: int, high: int) -> int:
    """A number in [low, high] that depends on the seed alone (`random` may change between Python versions)."""
    return low + int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6], "big") % (high - low + 1)


def token(seed: str, length: int) -> str:
    """Hexadecimal digits that depend on the seed alone."""
    return hashlib.sha256(seed.encode()).hexdigest()[:length]


def uuid(seed: str) -> str:
    """A UUID-shaped id that depends on the seed alone."""
    text = token(seed, 32)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def sentences() -> Iterator[str]:
    """Filler, for ever."""
    while True:
        yield from _SENTENCES
