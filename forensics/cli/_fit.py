"""Fit text with tables to a narrow screen: a long last column is folded in its place, a wider table is stacked."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

_LEAST = 20
"""Columns that a folded last cell must have, to be read at all."""
_GAP = re.compile(r"\S  +\S")
Span = tuple[int, int | None]


def fit(text: str, width: int | None, *, headed: bool = True) -> str:
    """Give the text with no line longer than `width`; as it is where there is no width.

    Lines in a row that have gaps of two spaces in the same place are a table; `headed`: its first line is the head.
    """
    if width is None:
        return text
    made: list[str] = []
    for gaps, same in groupby(text.split("\n"), key=lambda line: _GAP.search(line) is not None):
        lines = list(same)
        if max(map(len, lines)) <= width:
            made += lines
        elif gaps and len(lines) > 1 and len(spans := _spans(lines)) > 1:
            made += _table(lines, spans, width, headed=headed)
        else:
            made += [part for line in lines for part in _wrapped(line, width)]
    return "\n".join(made)


def _wrapped(line: str, width: int) -> list[str]:
    indent = len(line) - len(line.lstrip())
    return _folded(line[:indent], line.strip(), indent + 2, width)


def _folded(before: str, text: str, hanging: int, width: int) -> list[str]:
    """Fold a text that stands after `before`."""
    folded = textwrap.wrap(text, width, initial_indent=before, subsequent_indent=" " * hanging, break_on_hyphens=False)
    return folded or [before.rstrip()]


def _spans(lines: Sequence[str]) -> list[Span]:
    """Give the columns of a table: between them are two spaces or more in every line."""
    size = max(map(len, lines))
    used = [any(at < len(line) and line[at] != " " for line in lines) for at in range(size)]
    starts = [at for at in range(size) if used[at] and not any(used[max(0, at - 2) : at])]
    starts = sorted({*starts, *(at for at in _heads(lines) if any(len(line) > at for line in lines[1:]))})
    return list(zip(starts, [*starts[1:], None], strict=True))


def _heads(lines: Sequence[str]) -> Iterator[int]:
    """Give where a column begins that is one space apart in the head alone."""
    head, rows = lines[0], lines[1:]
    for found in re.finditer(r"(?<=\S )\S+", head):
        at, end = found.span()
        clear = all(row[at - 2 : at].strip() == "" for row in rows)
        if clear and any(row[at:end].strip() and row[at : at + 1] != " " for row in rows):
            yield at


def _table(lines: Sequence[str], spans: Sequence[Span], width: int, *, headed: bool) -> Iterator[str]:
    last = spans[-1][0]
    if last + _LEAST <= width:
        for line in lines:
            yield from _folded(line[:last].ljust(last), line[last:].strip(), last, width) if line[last:] else [line]
        return
    indent = " " * spans[0][0]
    rows = [[line[start:end].strip() for start, end in spans] for line in lines]
    names = [f"{name}: " for name in rows.pop(0)] if headed else [""] * len(spans)
    for row in rows:
        yield from _folded(indent, row[0], len(indent) + 2, width)
        for name, cell in zip(names[1:], row[1:], strict=True):
            if cell:
                yield from _folded(f"{indent}  ", f"{name}{cell}", len(indent) + 4, width)
