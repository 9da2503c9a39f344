"""Turn a finding in a private session into a small file of the same format that can be shared and shows the same.

The records near the evidence are taken, minimised to the fewest that still give the finding, and anonymised; the
result is read back, and only what gives the same finding again is handed over.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from forensics.capturing.anonymise import Anonymiser, Removed, survivors
from forensics.capturing.distil import CannotCapture, Distiller, Job
from forensics.capturing.same import difference, renamed, same_structure
from forensics.detect import Finding
from forensics.parse import parsers, recognise
from forensics.replaying.measures import Given
from forensics.replaying.replay_report import Answer
from forensics.replaying.replays import Asked, replay_file
from forensics.scan import Options, Skipped, look
from forensics.writing import REGISTRY, Writer

__all__ = ["CannotCapture", "Capture", "Changed", "Subject", "Unread", "shown", "writers"]

Decision = tuple[list[str], str, str, list[Answer]]


class Unread(CannotCapture):
    """A file that is not read at all, and so has no findings."""

    def __init__(self, skipped: Skipped) -> None:
        super().__init__(f"{skipped.path}: {skipped.reason}")
        self.skipped = skipped


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
    mark: str
    """What its ids hold, and those of no other capture."""
    shift: int
    decisions: int
    """Decisions of recovery policies, replayed over the records before and after: the same ones."""


def shown(made: Capture) -> bytes:
    """Give a capture's records but for the mark of their ids: equal in captures that show the same."""
    return b"\0".join(made.files.values()).replace(made.mark.encode(), b"")


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
            raise Unread(result.skipped or Skipped(path=name, bytes=0, kind="unreadable", reason="it cannot be read"))
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
        job = Job(self.path, self.name, self.parser, self.writer, self.file, finding, self.options, self.exact)
        with TemporaryDirectory(prefix="forensics-") as folder:
            return _Maker(job, Path(folder), keep_errors=self.keep_errors).capture(name, self.records)


class _Maker:
    """Makes one capture of what a distiller left, and proves it."""

    def __init__(self, job: Job, folder: Path, *, keep_errors: bool) -> None:
        self._job = job
        self._distiller = Distiller(job, folder)
        self._keep_errors = keep_errors

    def capture(self, name: str, records: int) -> Capture:
        """Distil, anonymise, write, and read what was written; `records`: how many the source holds."""
        distiller, finding = self._distiller, self._job.finding
        least = distiller.minimal()
        small = distiller.gives(least.kept, exact=False)
        if small is None:
            raise CannotCapture(f"{finding.detector} {finding.id}: it does not come twice the same")
        chosen = distiller.selected(least.kept)
        decided = self._decisions(distiller.written(chosen, self._job.path.name))
        anonymiser = Anonymiser(self._job.writer, chosen, keep_errors=self._keep_errors, finding=finding.id)
        made = [anonymiser.piece(piece) for piece in chosen]
        target = distiller.written(made, name)
        beside = sorted(path for path in target.parent.iterdir() if path != target)
        files = {path.name: path.read_bytes() for path in [target, *beside]}
        after = self._proved(target, small, anonymiser)
        if self._decisions(target) != decided:
            raise CannotCapture(f"{finding.detector} {finding.id}: without its words policies decide otherwise")
        self._private(files, name)
        return Capture(
            finding=finding,
            after=after,
            files=files,
            records=records,
            kept=len(made),
            bytes=self._job.path.stat().st_size,
            tries=least.tries,
            complete=least.complete,
            changed=_changes(finding, after),
            removed=anonymiser.removed,
            mark=anonymiser.mark,
            shift=anonymiser.shift,
            decisions=sum(map(len, decided)),
        )

    def _decisions(self, path: Path) -> list[list[Decision]]:
        """Give, session by session, what each policy of the agent was told, what it decides and what was recorded."""
        replayed = replay_file(path, path.name, Asked(given=Given(cap=self._job.options.cap), steps=True))
        return [
            [(one.told, one.basis, one.recorded, one.answers) for one in session.steps] for session in replayed.sessions
        ]

    def _private(self, files: dict[str, bytes], name: str) -> None:
        """Refuse a capture in which a word of the source stands."""
        empty = self._distiller.written([], name).read_bytes()
        left = survivors(self._distiller.pieces, b"\n".join(files.values()), self._job.writer, empty)
        if left:
            shown = ", ".join(left[:5])
            raise CannotCapture(f"{len(left)} words of the source would stand in the capture ({shown})")

    def _proved(self, target: Path, small: Finding, anonymiser: Anonymiser) -> Finding:
        """Read the capture as anybody would, and find the finding in it under its new names."""
        if not self._distiller.is_recognised(target):
            raise CannotCapture(f"without its words the capture is no longer recognised as {self._job.parser.name}")
        now = self._job.options.now
        found = self._distiller.found(target, None if now is None else now + anonymiser.shift)
        for one in found:
            expected = msgspec.structs.replace(small, agent=anonymiser.name(small.agent))
            if same_structure(one, expected) and one.measures == small.measures and renamed(small, one, anonymiser):
                return one
        raise CannotCapture(f"{small.detector} {self._job.finding.id}: {difference(small, found)}")


def _changes(before: Finding, after: Finding) -> list[Changed]:
    return [
        Changed(name, value, after.measures.get(name))
        for name, value in before.measures.items()
        if after.measures.get(name) != value
    ]
