"""The command that makes a shareable fixture of a finding."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli import _common
from forensics.config import Settings, UsageError, assignments, read_key, settings
from forensics.detect import Finding, detectors, told_again
from forensics.inputs import STDIN, Inputs, NoSuchInput, WouldOverwrite, expand, same_file
from forensics.saving import save

if TYPE_CHECKING:
    from forensics.capture import Capture, Subject
    from forensics.scan import Skipped

_KEEPS = ("errors", "none")
_SHORTEST = 4
_NOT_NAME = re.compile(r"[^A-Za-z0-9]+")


def capture(  # noqa: PLR0917  (the options of the command)
    path: Annotated[str, typer.Argument(metavar="PATH", help="A session, log or database, or a folder of them.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="The file to write; a folder with --all.")
    ],
    finding: Annotated[
        str | None, typer.Option("--finding", metavar="ID", help="The finding's id, or the beginning of it.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Capture every finding, a file each.")] = False,
    keep_text: Annotated[
        str,
        typer.Option("--keep-text", metavar="WHAT", help="errors (default): the known words of errors; none."),
    ] = "errors",
    exact: Annotated[
        bool, typer.Option("--exact", help="Keep every figure of the finding, however many records that takes.")
    ] = False,
    cap: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="The context window, where you know better than the files.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="DETECTOR.OPTION=VALUE", help="Change a detector's option; repeatable."),
    ] = None,
    now: Annotated[str | None, typer.Option(metavar="TIME", help="The time to take for now, as in scan.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    quiet: _common.Quiet = False,
) -> None:
    """Turn a finding in a private session into a few anonymous records of the same format that still show it.

    The fewest records that give the finding are kept, in order, with roles, stop reasons, tokens and the gaps between
    times. All text becomes filler of the same length, ids and names are renamed, times are moved, tool arguments and
    every field that is not known are left out. Kept are words of closed lists alone: those of continuing, of errors,
    of headings. The capture is read back before it is written, and must give the same finding.

    Exit codes: 0 written, 1 a finding could not be captured, 2 wrong usage, 3 nothing was recognised.
    """
    if (finding is None) == (not all_):
        raise UsageError("--finding: give the id of a finding (forensics scan -v shows them), or --all")
    if keep_text not in _KEEPS:
        raise UsageError(f"--keep-text: {keep_text!r} is not {' or '.join(_KEEPS)}")
    if finding is not None and len(finding) < _SHORTEST:
        raise UsageError(f"--finding: {finding!r} is too short; give at least {_SHORTEST} characters of the id")
    target = _target(output, all_=all_)
    asked = _asked(cap, now, set_)
    with _common.spool([path]) as spooled:
        inputs = _inputs(path, spooled, target, sorted(target.iterdir() if all_ and target.is_dir() else [target]))
        job = _Job(inputs, target, force=force, quiet=quiet, wanted=finding)
        read = job.run(asked, keep_errors=keep_text == "errors", exact=exact)
    if not read:
        _common.tell_unread([*inputs.skipped, *job.skipped])
        _common.complain(f"{path}: nothing was recognised")
        _common.finish(3)
    if finding is not None and not job.matched:
        raise UsageError(f"--finding: no finding {finding} in {path}; forensics scan -v shows them")
    _common.finish(1 if job.failed else 0)


def _target(output: str, *, all_: bool) -> Path:
    target = Path(output)
    if all_ and target.exists() and not target.is_dir():
        raise UsageError(f"--output: {output}: is a file; --all needs a folder")
    if not all_ and target.is_dir():
        raise UsageError(f"--output: {output}: is a folder; give a file's name")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"--output: {output}: there is no such folder; make it first")
    return target


def _asked(cap: str | None, now: str | None, set_: list[str] | None) -> Settings:
    given: Settings = {
        name: read_key(name, value, f"--{name}") for name, value in {"cap": cap, "now": now}.items() if value
    }
    given["set"] = assignments(set_ or (), detectors(), "--set")
    return settings(given, Path.cwd(), detectors)


def _inputs(path: str, spooled: Path, target: Path, there: list[Path]) -> Inputs:
    """Find the files; refuse to write where one of them, or a link to one, is `there` in the way."""
    try:
        inputs = expand([path], spooled, _common.stdin(), outputs=there if path == STDIN else [])
    except WouldOverwrite as error:
        raise UsageError(f"--output: {error}") from error
    except NoSuchInput as error:
        raise UsageError(str(error)) from error
    for one in there:
        if inputs.holds(one):
            if target.is_dir():
                raise UsageError(f"--output: {target}: holds {one.name}, which is read; give a folder of its own")
            raise UsageError(f"--output: {WouldOverwrite(one)}")
    return inputs


class _Job:
    """What is to be captured, where it goes, and how it went."""

    def __init__(self, inputs: Inputs, target: Path, *, force: bool, quiet: bool, wanted: str | None) -> None:
        self.matched = 0
        self.failed = 0
        self.skipped: list[Skipped] = []
        self._inputs = inputs
        self._target = target
        self._force = force
        self._quiet = quiet
        self._wanted = wanted
        self._names: set[str] = set()
        self._written: dict[bytes, Path] = {}

    def run(self, asked: Settings, *, keep_errors: bool, exact: bool) -> int:
        """Capture from each file; give how many were read."""
        from forensics.capture import Subject, Unread  # noqa: PLC0415  (not needed for --help)
        from forensics.scan import Options  # noqa: PLC0415

        options = Options(options=asked["set"], cap=asked.get("cap"), now=asked.get("now"))
        read = 0
        hits: list[tuple[Subject, Finding]] = []
        for one in self._inputs.files:
            try:
                subject = Subject(one.path, one.name, options, keep_errors=keep_errors, exact=exact)
            except Unread as error:
                self.skipped.append(error.skipped)
                continue
            read += 1
            if self._wanted is None:
                self._subject(subject, subject.findings)
                continue
            hits += [(subject, one) for one in subject.findings if self._names_it(one)]
            if any(one.id == self._wanted for _, one in hits):
                break
        if hits:
            self._subject(*self._only(hits))
        return read

    def _names_it(self, one: Finding) -> bool:
        wanted = self._wanted or ""
        return one.id.startswith(wanted) or told_again(one).startswith(wanted)

    def _only(self, hits: "list[tuple[Subject, Finding]]") -> "tuple[Subject, list[Finding]]":
        """Give the one finding that is meant; ids that a scan gives to later files count where no other fits."""
        wanted = self._wanted or ""
        whole = [hit for hit in hits if hit[1].id == wanted]
        hits = whole or [hit for hit in hits if hit[1].id.startswith(wanted)] or hits
        ids = {one.id if one.id.startswith(wanted) else told_again(one) for _, one in hits}
        if len(ids) > 1:
            files = ", ".join(sorted({subject.name for subject, _ in hits}))
            raise UsageError(f"--finding: {wanted} begins {len(ids)} ids, in {files}; give more of it")
        subject, one = hits[0]
        return subject, [one]

    def _subject(self, subject: "Subject", chosen: list[Finding]) -> None:
        from forensics.capture import CannotCapture, shown  # noqa: PLC0415

        for one in chosen:
            self.matched += 1
            try:
                target = self._place(one, subject.writer.suffix)
                made = subject.capture(one, target.name)
            except CannotCapture as error:
                self.failed += 1
                _common.complain(f"not captured: {error}")
                continue
            there = self._written.setdefault(shown(made), target)
            if there is target:
                self._write(made, target, subject)
            elif not self._quiet:
                _common.write(
                    f"finding  {_named(made, subject)}\nwritten  not again: {there.name} holds the same records\n\n"
                )

    def _place(self, finding: Finding, suffix: str) -> Path:
        if self._wanted is not None:
            self._check(self._target)
            return self._target
        with _writing(self._target):
            self._target.mkdir(exist_ok=True)
        stem = f"{finding.detector}-{_NOT_NAME.sub('', finding.id)[:8]}"
        number = 1
        while (name := f"{stem}{'' if number == 1 else f'-{number}'}{suffix}") in self._names:
            number += 1
        self._names.add(name)
        self._check(self._target / name)
        return self._target / name

    def _check(self, target: Path) -> None:
        if target.exists() and not self._force:
            raise UsageError(f"--output: {target}: is there already; give another name, or --force")
        if self._inputs.holds(target):
            raise UsageError(f"--output: {WouldOverwrite(target)}")

    def _write(self, made: "Capture", target: Path, subject: "Subject") -> None:
        for name in made.files:
            self._check(target.with_name(name))
            if any(same_file(target.with_name(name), one) for one in subject.companions):
                raise UsageError(f"--output: {WouldOverwrite(target.with_name(name))}")
        for name, data in made.files.items():
            with _writing(target):
                save(target.with_name(name), data)
        if not self._quiet:
            _common.write(_told(made, subject))


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"--output: {target}: cannot be written: {error.strerror}; choose another place") from error


def _told(made: "Capture", subject: "Subject") -> str:
    """Say what was kept, what was removed, and what was proved."""
    removed = made.removed
    figures = "all as in the source"
    if made.changed:
        figures = "; ".join(f"{name} {_shown(before)} -> {_shown(after)}" for name, before, after in made.changed)
    size = sum(map(len, made.files.values()))
    least = "none of them can be left out" if made.complete else f"the search ended after {made.tries:,} tries"
    errors = "known words of errors kept" if subject.keep_errors else "by their class alone"
    rows = [
        ("finding", _named(made, subject)),
        ("written", f"{', '.join(made.files)}: {size:,} of {made.bytes:,} bytes"),
        ("kept", f"{made.kept:,} of {made.records:,} records, in order; {least}"),
        ("figures", figures),
        (
            "removed",
            f"{removed.texts:,} texts of {removed.characters:,} characters (filler of the same length; words of"
            f" continuing stay), {removed.ids:,} ids and {removed.names:,} names renamed, {removed.times:,} times moved"
            f" (the first is 2020-01-01T00:00:00Z), {removed.fields:,} fields left out",
        ),
        ("errors", f"{removed.errors:,}: {errors}"),
        ("proved", f"read back, the capture gives the finding again as {made.after.id}, with its evidence and figures"),
        ("", f"{made.decisions:,} decisions of recovery policies, replayed, are the same with and without the words"),
        ("", "no word of the source's records stands in it but for those of the closed lists"),
    ]
    return "".join(f"{name:<8} {text}\n" for name, text in rows) + "\n"


def _named(made: "Capture", subject: "Subject") -> str:
    return f"{made.finding.detector} {made.finding.id} in {subject.name}"


def _shown(value: object) -> str:
    return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
