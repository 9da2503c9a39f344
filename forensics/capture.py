"""Turn a finding in a private session into a small file of the same format that can be shared and shows the same.

The records near the evidence are taken, minimised to the fewest that still give the finding, and anonymised; the
result is read back, and only what gives the same finding again is handed over.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from forensics.anonymise import Anonymiser, Removed, survivors
from forensics.detect import Finding, detect, fingerprint
from forensics.minimise import Minimum, minimise
from forensics.parse import Source, parsers, read, recognise
from forensics.scan import Options, look
from forensics.timeline import File, Session
from forensics.writing import REGISTRY, Piece, Wanted, Writer

WHOLE_BYTES = 64 << 20
"""Up to this size every record of a file may be looked at; of a larger one, those near its notable rows."""
EXACT = 60
"""So many records may be kept to leave every figure as it was; beyond, counts and sums may shrink."""
_MARGINS = (0, 2, 25)
BUDGET = 3000
"""Most tries of a search."""
_TRIES = 400
"""So many tries may go into keeping every figure: what takes more does not come down to a few records."""


class CannotCapture(Exception):  # noqa: N818  (an answer about the finding, not an error of the program)
    """The finding cannot be captured. The message says why, and what can be done."""


class Changed(NamedTuple):
    """A figure of the finding that is smaller in the capture."""

    measure: str
    before: Any
    after: Any


class Capture(msgspec.Struct, kw_only=True):
    """A capture that was made and proved. `files` are names to contents, the transcript itself first."""

    finding: Finding
    after: Finding
    """The same finding, as the capture gives it."""
    files: dict[str, bytes]
    records: int
    """Of the source, as it was read."""
    kept: int
    bytes: int
    """Of the source."""
    tries: int
    complete: bool
    """No single record can be left out."""
    changed: list[Changed]
    removed: Removed
    shift: int


def writers() -> dict[str, Writer]:
    """Every writer by the name of its parser."""
    parsers()  # a writer stands in its parser's file
    return dict(sorted(REGISTRY.items()))


class Subject:
    """A file whose findings can be captured, scanned once."""

    def __init__(
        self, path: Path, name: str, options: Options, *, keep_errors: bool = True, exact: bool = False
    ) -> None:
        result, file = look(path, name, options)
        if file is None or result.input is None:
            reason = result.skipped.reason if result.skipped else "it cannot be read"
            raise CannotCapture(f"{name}: {reason}")
        self.path = path
        self.name = name
        self.options = options
        self.keep_errors = keep_errors
        self.exact = exact
        self.file = file
        self.findings = result.findings
        self.records = result.input.records
        self.companions = [Path(one) for one in result.input.companions]
        self.parser = recognise(path)

    @property
    def writer(self) -> Writer:
        """The writer for the file's format; raises `CannotCapture` when there is none."""
        found = writers().get(self.parser.name)
        if found is None:
            raise CannotCapture(
                f"{self.name}: a capture cannot be written as {self.parser.name}; one can be as {', '.join(writers())}"
            )
        return found

    def capture(self, finding: Finding, name: str) -> Capture:
        """Make the capture of one finding; `name` is that of the file to be. Raises `CannotCapture`."""
        writer = self.writer
        with TemporaryDirectory(prefix="forensics-") as folder:
            work = _Work(self, finding, writer, Path(folder))
            kept, tries, complete = work.minimal()
            return work.anonymised(name, kept, tries, complete=complete)


class _Work:
    """The making of one capture: its records, and the file that they are written to again and again."""

    def __init__(self, subject: Subject, finding: Finding, writer: Writer, folder: Path) -> None:
        self.subject = subject
        self.finding = finding
        self.writer = writer
        self.pieces: list[Piece] = []
        self._folder = folder
        self._writes = 0

    def minimal(self) -> tuple[list[int], int, bool]:
        """Give the positions of the fewest records that show the finding, how many tries it took, and if it is least.

        Every figure stays as it was where that takes few records or is insisted on; else the structure alone counts.
        """
        tries = 0
        kept = self._slice(exact=True)
        if kept is not None and (self.subject.exact or len(self.finding.lines or self.finding.records) <= EXACT):
            budget = BUDGET if self.subject.exact else _TRIES
            least = self._least(kept, budget, exact=True)
            if self.subject.exact or len(least.kept) <= EXACT:
                return self._with_fixed(least.kept), least.tries, least.complete
            tries = least.tries
        kept = None if self.subject.exact else self._slice(exact=False)
        if kept is None:
            what = " with every figure" if self.subject.exact else ""
            raise CannotCapture(
                f"{self.finding.detector} {self.finding.id}: its records, written anew, do not give it again{what}"
            )
        least = self._least(kept, BUDGET, exact=False)
        return self._with_fixed(least.kept), tries + least.tries, least.complete

    def _least(self, kept: list[int], budget: int, *, exact: bool) -> Minimum:
        return minimise(kept, lambda some: self._gives(some, exact=exact) is not None, budget)

    def _slice(self, *, exact: bool) -> list[int] | None:
        """Give records around the evidence that show the finding: few first, then more, at last all there are."""
        for margin in _MARGINS:
            wanted = _wanted(self.subject.file, self.finding, margin)
            if self._shows(wanted, exact=exact):
                return self._loose(range(len(self.pieces)))
        if self.subject.path.stat().st_size <= WHOLE_BYTES and self._shows(None, exact=exact):
            return self._loose(range(len(self.pieces)))
        return None

    def _shows(self, wanted: Wanted | None, *, exact: bool) -> bool:
        self.pieces = list(self.writer.pieces(Source(self.subject.path, self.subject.name), wanted))
        return bool(self.pieces) and self._gives(range(len(self.pieces)), exact=exact) is not None

    def _loose(self, positions: Sequence[int]) -> list[int]:
        return [at for at in positions if not self.pieces[at].fixed]

    def _with_fixed(self, positions: Sequence[int]) -> list[int]:
        return sorted({*positions, *(at for at, piece in enumerate(self.pieces) if piece.fixed)})

    def selected(self, positions: Sequence[int]) -> list[Piece]:
        """Give the pieces at the positions and the fixed ones, each with its nearest kept piece above it."""
        kept = set(self._with_fixed(positions))
        chosen = []
        for at in sorted(kept):
            piece = self.pieces[at]
            if piece.owner is not None and piece.owner not in kept:
                continue
            chosen.append(self._linked(piece, piece.link, kept) if piece.link in piece.value else piece)
        return chosen

    def _linked(self, piece: Piece, field: str | None, kept: set[int]) -> Piece:
        above = piece.above
        while above is not None and above not in kept:
            above = self.pieces[above].above
        link = None if above is None else self.pieces[above].record
        if field is None or piece.value[field] == link:
            return piece
        return msgspec.structs.replace(piece, value={**piece.value, field: link})

    def _written(self, pieces: Sequence[Piece], name: str) -> Path:
        """Write the pieces into a folder of their own: what lies beside a file can be part of it."""
        self._writes += 1
        target = self._folder / str(self._writes) / name
        if self._writes > 1:
            rmtree(self._folder / str(self._writes - 1))
        target.parent.mkdir()
        self.writer.write(pieces, target)
        return target

    def _gives(self, positions: Sequence[int], *, exact: bool) -> Finding | None:
        # Some formats take a session's name from the file's.
        target = self._written(self.selected(positions), self.subject.path.name)
        for one in self._found(target, self.subject.options.now):
            same = _same_place(one, self.finding) and _same_structure(one, self.finding)
            if same and (not exact or one.measures == self.finding.measures):
                return one
        return None

    def _found(self, target: Path, now: int | None) -> list[Finding]:
        options = self.subject.options
        source = Source(target, target.name)
        parser = self.subject.parser
        file = File(target.name, parser.name, parser.agent, log=parser.log)
        file.touched, file.now = self.subject.file.touched, now
        file.build(read(source, parser), options.cap)
        file.lost = max((one.line for one in source.malformed if not one.salvaged), default=None)
        return detect(file, [self.finding.detector], options.options)

    def anonymised(self, name: str, kept: list[int], tries: int, *, complete: bool) -> Capture:
        """Anonymise the records, write them, and prove that what was written gives the finding."""
        small = self._gives(kept, exact=False)
        if small is None:
            raise CannotCapture(f"{self.finding.detector} {self.finding.id}: it does not come twice the same")
        chosen = self.selected(kept)
        anonymiser = Anonymiser(self.writer, chosen, keep_errors=self.subject.keep_errors)
        made = [anonymiser.piece(piece) for piece in chosen]
        target = self._written(made, name)
        beside = sorted(path for path in target.parent.iterdir() if path != target)
        files = {path.name: path.read_bytes() for path in [target, *beside]}
        after = self._proved(target, small, anonymiser)
        left = survivors(self.pieces, b"\n".join(files.values()), self.writer)
        if left:
            shown = ", ".join(left[:5])
            raise CannotCapture(
                f"{len(left)} words of the source would stand in the capture ({shown}): nothing written"
            )
        return Capture(
            finding=self.finding,
            after=after,
            files=files,
            records=self.subject.records,
            kept=len(made),
            bytes=self.subject.path.stat().st_size,
            tries=tries,
            complete=complete,
            changed=_changes(self.finding, after),
            removed=anonymiser.removed,
            shift=anonymiser.shift,
        )

    def _proved(self, target: Path, small: Finding, anonymiser: Anonymiser) -> Finding:
        """Read the capture as anybody would, and find the finding in it under its new names."""
        try:
            chosen = recognise(target)
        except Exception as error:
            raise CannotCapture(f"the capture is not recognised as {self.subject.parser.name}: {error}") from error
        if chosen.name != self.subject.parser.name:
            raise CannotCapture(f"the capture is recognised as {chosen.name}, not {self.subject.parser.name}")
        now = self.subject.options.now
        found = self._found(target, None if now is None else now + anonymiser.shift)
        for one in found:
            if _same_structure(one, small) and one.measures == small.measures and _renamed(small, one, anonymiser):
                return one
        raise CannotCapture(f"{small.detector} {self.finding.id}: {_difference(small, found)}; nothing written")


def _wanted(file: File, finding: Finding, margin: int) -> Wanted:
    """Choose lines and records: the evidence and its surroundings; with a margin, all notable rows of the session."""
    sessions = [one for one in file.sessions if finding.session in {None, one.id}] or file.sessions
    rows = [row for session in sessions for row in session.events]
    first, last = min(finding.lines, default=0), max(finding.lines, default=0)
    lines = set(finding.lines)
    records = set(finding.records)
    around = {line + step for line in finding.lines for step in range(-margin, margin + 1)}
    lines |= {row.line for row in rows if row.line is not None and (margin > 2 or first <= row.line <= last)}
    lines |= {row.line for row in rows if row.line is not None and row.kind in {"session", "model"}}
    records |= {row.record for row in rows if row.record is not None}
    if margin > 2:
        lines |= {row.line for row in file.host if row.line is not None}
        lines |= {line + step for line in lines for step in (-2, -1, 1, 2)}
    names = {part for session in sessions for part in _family(file, session)}
    return Wanted(frozenset(line for line in lines | around if line > 0), frozenset(records), frozenset(names))


def _family(file: File, session: Session) -> Iterator[str]:
    yield session.id
    yield session.id.partition("/")[0]
    if session.parent is not None and any(one.id == session.parent for one in file.sessions):
        yield session.parent


def _same_place(one: Finding, other: Finding) -> bool:
    """Whether two findings are the same one: by id, or by session where the id counts rows that may be gone."""
    return one.id == other.id or (not other.records and one.session == other.session)


def _same_structure(one: Finding, other: Finding) -> bool:
    """Whether two findings say the same: words, what is known and how; figures may differ."""
    return _structure(one) == _structure(other)


def _structure(one: Finding) -> tuple[Any, ...]:
    words = {name: value if isinstance(value, str) else value is not None for name, value in one.measures.items()}
    return one.detector, one.severity, one.confidence, one.agent, words, one.bases, sorted(one.intervals)


def _renamed(before: Finding, after: Finding, anonymiser: Anonymiser) -> bool:
    """Whether session, evidence and id are those of before under their new names."""
    session = None if before.session is None else anonymiser.id(before.session)
    records = [anonymiser.id(record) for record in before.records]
    if len(before.lines) != len(after.lines) or len(records) != len(after.records) or session != after.session:
        return False
    names = zip(before.records, records, after.records, strict=True)
    if any(new not in {old, name} for old, new, name in names):  # a file beside the session is named by its own time
        return False
    for key, name in zip(before.records, after.records, strict=True):
        if before.id == fingerprint(before.detector, before.agent, before.session, key):
            return after.id == fingerprint(after.detector, after.agent, session, name)
    return True


def _changes(before: Finding, after: Finding) -> list[Changed]:
    return [
        Changed(name, value, after.measures.get(name))
        for name, value in before.measures.items()
        if after.measures.get(name) != value
    ]


def _difference(small: Finding, found: list[Finding]) -> str:
    if not found:
        return "it is gone when the words are"
    names = [name for name, value in small.measures.items() if found[0].measures.get(name) != value]
    return f"without its words it differs in {', '.join(names) or 'its structure'}"
