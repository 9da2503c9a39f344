"""Find the fewest records of a file that still give a finding: near its evidence first, then fewer and fewer."""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

import msgspec

from forensics.capturing.minimise import Minimum, minimise
from forensics.capturing.near import wanted_near
from forensics.capturing.same import distorted, same_place, same_structure
from forensics.detect import Finding, detect
from forensics.parse import NotRecognised, Parser, Source, Unreadable, read, recognise
from forensics.scan import Options
from forensics.timeline import File
from forensics.writing import Piece, Wanted, Writer

WHOLE_BYTES = 64 << 20
"""Up to this size every record of a file may be looked at; of a larger one, those near its notable rows."""
EXACT = 60
"""So many records may be kept to leave every figure as it was; beyond, counts and sums may shrink."""
_MARGINS = (0, 2, 25)
_WIDTHS = (4, 16, 64, 256, 1024)
_MANY = 2500
BUDGET = 1_000_000
"""Most records that a search may write, all its tries together."""
_SMALL_BUDGET = 150_000
"""As many may go into keeping every figure: what takes more seldom comes down to a few records."""


class CannotCapture(Exception):  # noqa: N818  (an answer about the finding, not an error of the program)
    """The finding cannot be captured. The message says why, and what can be done."""


class Job(NamedTuple):
    """What is looked for, and where. `exact`: every figure of the finding must stay as it is."""

    path: Path
    name: str
    parser: Parser
    writer: Writer
    file: File
    finding: Finding
    options: Options
    exact: bool


class Distilled(NamedTuple):
    """Positions of the records that are left, how many tries it took, and that no single one can be left out."""

    kept: list[int]
    tries: int
    complete: bool


class Distiller:
    """Looks for the fewest records that give a finding: writes some of them again and again, and reads them."""

    def __init__(self, job: Job, folder: Path) -> None:
        self.pieces: list[Piece] = []
        """The records that were looked at last."""
        self._job = job
        self._loaded: Wanted | None = None
        self._folder = folder / "0"
        self._writes = 0
        self._given: dict[tuple[bool, tuple[int, ...]], Finding | None] = {}

    def minimal(self) -> Distilled:
        """Give the fewest records that show the finding. Raises `CannotCapture` when none do.

        Every figure stays as it was where that takes few records or is insisted on; else the structure alone counts.
        """
        tries = 0
        wanted, insists = self._job.finding, self._job.exact
        kept = self._slice(exact=True)
        few = len(wanted.lines or wanted.records) <= EXACT and len(kept or ()) <= _MANY
        if kept is not None and (insists or few):
            least = self._least(kept, BUDGET if insists else _SMALL_BUDGET, exact=True)
            if insists or len(least.kept) <= EXACT:
                return Distilled(self._with_fixed(least.kept), least.tries, least.complete)
            tries = least.tries
        kept = None if insists else self._slice(exact=False)
        if kept is None:
            what = " with every figure" if insists else ""
            raise CannotCapture(f"{wanted.detector} {wanted.id}: its records, written anew, do not give it again{what}")
        least = self._least(kept, BUDGET, exact=False)
        return Distilled(self._with_fixed(least.kept), tries + least.tries, least.complete)

    def _least(self, kept: list[int], budget: int, *, exact: bool) -> Minimum:
        return minimise(kept, lambda some: self.gives(some, exact=exact) is not None, budget)

    def _slice(self, *, exact: bool) -> list[int] | None:
        """Give records around the evidence that show the finding: few first, then more, at last all there are."""
        for margin in _MARGINS:
            if found := self._part(wanted_near(self._job.file, self._job.finding, margin), exact=exact):
                return found
        small = self._job.path.stat().st_size <= WHOLE_BYTES
        return self._part(None, exact=exact) if small else None

    def _part(self, wanted: Wanted | None, *, exact: bool) -> list[int] | None:
        """Give the positions of some of the wanted records that show the finding; those near the evidence first."""
        if wanted != self._loaded or not self.pieces:
            self.pieces = list(self._job.writer.pieces(Source(self._job.path, self._job.name), wanted))
            self._loaded = wanted
            self._given.clear()
        before = 0
        for width in _WIDTHS:
            near = self._near(width)
            if before < len(near) < len(self.pieces) and self.gives(near, exact=exact) is not None:
                return self._loose(near)
            before = len(near)
        everything = range(len(self.pieces))
        return self._loose(everything) if self.pieces and self.gives(everything, exact=exact) is not None else None

    def _near(self, width: int) -> list[int]:
        """Give the positions of the evidence and of `width` records before and after each."""
        lines, records = set(self._job.finding.lines), set(self._job.finding.records)
        hits = [at for at, one in enumerate(self.pieces) if one.line in lines or one.record in records]
        last = len(self.pieces)
        return sorted({at for hit in hits for at in range(max(0, hit - width), min(last, hit + width + 1))})

    def _loose(self, positions: Sequence[int]) -> list[int]:
        return [at for at in positions if not self.pieces[at].fixed]

    def _with_fixed(self, positions: Sequence[int]) -> list[int]:
        return sorted({*positions, *(at for at, piece in enumerate(self.pieces) if piece.fixed)})

    def selected(self, positions: Sequence[int]) -> list[Piece]:
        """Give the pieces at the positions and the fixed ones, each with its nearest kept piece above it."""
        kept = set(self._with_fixed(positions))
        pieces = [self.pieces[at] for at in self._owned(positions)]
        return [self._linked(one, one.link, kept) if one.link in one.value else one for one in pieces]

    def _owned(self, positions: Sequence[int]) -> list[int]:
        """Give the positions and the fixed ones, without the parts of what is not among them."""
        kept = set(self._with_fixed(positions))
        owners = ((at, self.pieces[at].owner) for at in sorted(kept))
        return [at for at, owner in owners if owner is None or owner in kept]

    def _linked(self, piece: Piece, field: str | None, kept: set[int]) -> Piece:
        above = piece.above
        while above is not None and above not in kept:
            above = self.pieces[above].above
        link = None if above is None else self.pieces[above].record
        if field is None or piece.value[field] == link:
            return piece
        return msgspec.structs.replace(piece, value={**piece.value, field: link})

    def written(self, pieces: Sequence[Piece], name: str) -> Path:
        """Write the pieces into a folder without other files: what lies beside a file can be part of it.

        The folder is used again, for to make and remove one takes longer than a file; but not where files go beside,
        for readers may remember what lies in a folder.
        """
        if any(map(_beside, self.pieces)):
            rmtree(self._folder, ignore_errors=True)
            self._writes += 1
            self._folder = self._folder.with_name(str(self._writes))
        self._folder.mkdir(exist_ok=True)
        for one in self._folder.iterdir():
            one.unlink()
        target = self._folder / name
        self._job.writer.write(pieces, target)
        return target

    def gives(self, positions: Sequence[int], *, exact: bool) -> Finding | None:
        """Give the finding as the records at the positions show it; `None` where they do not.

        What comes to the same records is written and read once.
        """
        key = exact, tuple(self._owned(positions))
        if key not in self._given:
            self._given[key] = self._tried(positions, exact=exact)
        return self._given[key]

    def _tried(self, positions: Sequence[int], *, exact: bool) -> Finding | None:
        """Write the records, read them, and give the finding.

        The file has its source's name: some formats take a session's from it.
        """
        chosen = self.selected(positions)
        if not self._can_be(chosen, exact=exact):
            return None
        target = self.written(chosen, self._job.path.name)
        for one in self.found(target, self._job.options.now):
            if self._is_same(one, chosen, exact=exact) and self.is_recognised(target):
                return one
        return None

    def _can_be(self, chosen: Sequence[Piece], *, exact: bool) -> bool:
        """Whether the evidence that `_is_same` asks for is among the lines at all: else nothing need be written."""
        wanted = set(self._job.finding.lines)
        if not self._job.writer.lined or not wanted:
            return True
        there = wanted.intersection(_lines(chosen))
        return there == wanted if exact else bool(there)

    def _is_same(self, one: Finding, chosen: Sequence[Piece], *, exact: bool) -> bool:
        """Whether a finding is the one to be captured: its place, its structure, its evidence."""
        wanted = self._job.finding
        if not (same_place(one, wanted) and same_structure(one, wanted)):
            return False
        if self._job.writer.lined and wanted.lines:
            lines = _lines(chosen)
            evidence = [lines[line - 1] for line in one.lines]
            if evidence != wanted.lines if exact else evidence[0] not in wanted.lines:
                return False
        return one.measures == wanted.measures if exact else not distorted(one, wanted)

    def is_recognised(self, target: Path) -> bool:
        """Whether a file is what its source is."""
        try:
            return recognise(target).name == self._job.parser.name
        except (NotRecognised, Unreadable):
            return False

    def found(self, target: Path, now: int | None) -> list[Finding]:
        """Read a file as a scan does, and give what the finding's detector finds."""
        options = self._job.options
        source = Source(target, target.name)
        parser = self._job.parser
        file = File(target.name, parser.name, parser.agent, log=parser.log)
        file.touched, file.now = self._job.file.touched, now
        file.build(read(source, parser), options.cap)
        file.lost = max((one.line for one in source.malformed if not one.salvaged), default=None)
        return detect(file, [self._job.finding.detector], options.options)


def _lines(chosen: Sequence[Piece]) -> list[int | None]:
    """Give the lines that pieces stood on, in the order in which they will stand."""
    return [piece.line for piece in chosen if not _beside(piece)]


def _beside(piece: Piece) -> bool:
    return piece.table.startswith("beside")
