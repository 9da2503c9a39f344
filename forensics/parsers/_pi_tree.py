"""The tree in a pi session file: the live branch is the last record's, the others are kept apart.

Entries point at their parent (`parentId`); going back in a conversation adds a second child to an old entry.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET, UnsetType


class Branch(NamedTuple):
    """An abandoned branch: its session id, and the session that it leaves."""

    session: str
    parent: str


class Tree:
    """The entries of one session in file order. While every parent is the entry before, nothing more is kept."""

    def __init__(self, session: str, line: int = 0) -> None:
        self.session = session
        self.line = line
        """Where it begins."""
        self.forked = False
        self._index: dict[str, int] = {}
        self._parents: list[int] = []
        self._ids: list[str] = []
        self._lines: list[int] = []
        self._apart: dict[str, int] = {}
        """Lines of the entries that are no part of the tree."""

    def __contains__(self, record: str) -> bool:
        return record in self._index

    def line_of(self, record: str) -> int:
        """Give the line of a record that was added."""
        return self._apart[record] if record in self._apart else self._lines[self._index[record]]

    def add(self, record: str, parent: str | UnsetType | None, line: int = 0) -> None:
        """Take the next entry.

        One that names no parent at all (OpenClaw's gateway appends such) is no part of the tree. One whose parent is
        not in the file (its line was lost) follows the entry before it.
        """
        last = len(self._ids) - 1
        if parent is UNSET:
            self._index[record] = last
            self._apart[record] = line
            return
        at = -1 if parent is None else self._index.get(parent, last)
        if at != last:
            self.forked = True
        self._index[record] = last + 1
        self._ids.append(record)
        self._lines.append(line)
        self._parents.append(at)

    def extend(self, records: list[str | None], parents: list[str | UnsetType | None], lines: Sequence[int]) -> bool:
        """Take the next entries, those without an id left out, as `add` does; none where an id is not new, and say so.

        Where each follows the one before, that is all there is to keep.
        """
        named = [record for record in records if record is not None]
        if len(set(named)) < len(named) or not self._index.keys().isdisjoint(named):
            return False
        at = len(self._ids)
        if len(named) == len(records) and at and [self._ids[-1], *named[:-1]] == parents:
            self._index.update(zip(named, range(at, at + len(named)), strict=True))
            self._parents += range(at - 1, at + len(named) - 1)
            self._ids += named
            self._lines += lines
            return True
        for record, parent, line in zip(records, parents, lines, strict=True):
            if record is not None:
                self.add(record, parent, line)
        return True

    def abandoned(self) -> dict[str, Branch]:
        """Map each entry off the live branch to its branch.

        An entry that several abandoned branches share belongs to the one that was written to last.
        """
        if not self.forked:
            return {}
        owner: list[str | None] = [None] * len(self._ids)
        self._mark(owner, len(self._ids) - 1, self.session)
        parents: dict[str, str] = {}
        for at in range(len(self._ids) - 2, -1, -1):
            if owner[at] is None:
                name = f"{self.session}/{self._ids[at]}"
                root = self._mark(owner, at, name)
                parents[name] = self.session if root < 0 else owner[root] or self.session
        return {
            self._ids[at]: Branch(name, parents[name])
            for at, name in enumerate(owner)
            if name is not None and name != self.session
        }

    def _mark(self, owner: list[str | None], at: int, name: str) -> int:
        """Give the entry and its ancestors that have no owner yet to `name`; return the first that has one."""
        while at >= 0 and owner[at] is None:
            owner[at] = name
            at = self._parents[at]
        return at
