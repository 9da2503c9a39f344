"""Whether a summary that was kept seems cut off: the session format holds neither its stop reason nor its tokens."""

import re

from forensics.attempts import Attempt
from forensics.patterns import later

_HEADING = later(r"^#{1,3}\s+(?P<name>\S.*?)\s*$", re.MULTILINE)
_FILE_LISTS = later(r"<(read-files|modified-files)>.*?</\1>", re.DOTALL)
_TEMPLATES: tuple[tuple[str, frozenset[str]], ...] = (
    ("goal", frozenset({"next steps"})),
    ("objective", frozenset({"next move"})),
)
"""A template's first heading, and headings near its end: pi and opencode write all of them."""


def suspects(attempts: list[Attempt]) -> list[Attempt]:
    """Give the attempts whose summary ends in mid-word and lacks sections that it should have.

    Should have: a section that an earlier summary of the session had after this one's last, or the end of the
    template that it began. `attempts` are one session's, in order.
    """
    found: list[Attempt] = []
    expected: set[str] = set()
    for attempt in attempts:
        text = attempt.end.text if attempt.end and attempt.outcome == "summary" else None
        if text is None:
            continue
        names = {match["name"].lower() for match in _HEADING.finditer(text)}
        if _ends_in_a_word(text) and names and (expected - names or _template_left(names)):
            found.append(attempt)
        else:
            expected |= names
    return found


def _ends_in_a_word(text: str) -> bool:
    body = _FILE_LISTS.sub("", text).rstrip()
    last = body.rsplit("\n", 1)[-1]
    return bool(body) and body[-1].isalpha() and not last.lstrip().startswith("#")


def _template_left(names: set[str]) -> bool:
    return any(first in names and not last & names for first, last in _TEMPLATES)
