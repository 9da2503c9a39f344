"""Hold what was found against what is accepted: suppressions, a baseline, locks, and what else there is to say."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from forensics import baseline, ignores, lock, mutate
from forensics.baseline import Baseline, Seen
from forensics.detect import Finding
from forensics.ignores import Ignore
from forensics.inputs import LOCK, Found
from forensics.remark import Change, Remark
from forensics.scan import Options, SessionTotals, Skipped, look
from forensics.shape import Key, Places, Shape, expanded, key, shape_and_places
from forensics.summary import Mark, Marked

_CLOSED = 4_102_444_800_000
"""The year 2100: every recording has long ended."""


class Rules(msgspec.Struct, kw_only=True, frozen=True):
    """What findings are held against. `now` is UTC milliseconds; `accept` the command that takes them as they are."""

    now: int
    detectors: tuple[str, ...]
    suppressions: tuple[Ignore, ...] = ()
    baseline: Baseline | None = None
    accept: str = ""
    """Empty where nobody asked for a baseline."""


Judge = Callable[[list[SessionTotals]], Sequence[Remark]]
"""Says what there is to say about the sessions."""


Known = frozenset[tuple[str, Key]]
"""Findings that locks hold, by file, id and lines."""


def marker(rules: Rules, judge: Judge | None = None, known: Known = frozenset()) -> Mark:
    """Give what `summarise` marks the findings with: suppressions first, then the baseline, then what locks hold."""

    def mark(findings: list[Finding], sessions: list[SessionTotals]) -> Marked:
        left = ignores.suppress(findings, rules.suppressions, rules.now)
        remarks = [*left.remarks, *(judge(sessions) if judge else ())]
        kept = left.findings
        if rules.baseline is not None:
            seen = Seen(rules.detectors, {one.session for one in sessions})
            found = baseline.mark(kept, _without(rules.baseline, left), seen, rules.now, rules.accept)
            kept = found.findings
            remarks += found.remarks
        kept = [_held(one) if one.state == "new" and (one.file, key(one)) in known else one for one in kept]
        return Marked(kept, left.suppressed, [*remarks, *_new(kept, rules)])

    return mark


def _held(one: Finding) -> Finding:
    return msgspec.structs.replace(one, state="baselined", reason="the lock of the recording holds it")


def _new(findings: list[Finding], rules: Rules) -> list[Remark]:
    """Say how many findings nothing accepts, and how to accept them."""
    new = sum(one.state == "new" for one in findings)
    if not new or not rules.accept:
        return []
    where = "not in the baseline" if rules.baseline else "not in a baseline, for there is none"
    message = f"{where}: {new:,} finding{'' if new == 1 else 's'}"
    return [Remark(topic="baseline", change="new", fails=False, name="new", message=message, accept=rules.accept)]


def _without(accepted: Baseline, left: Marked) -> Baseline:
    """Leave out the entries whose findings are suppressed: they are still there, so nothing is to be told of them."""
    used = baseline.pair(left.suppressed, accepted.entries)
    return msgspec.structs.replace(accepted, entries=[*used.unused]) if left.suppressed else accepted


def closed(options: Options) -> Options:
    """Take recordings for finished: all detectors run, and what comes last is the end, however young the file is."""
    return msgspec.structs.replace(options, detectors=None, now=_CLOSED)


def structure(found: Found, options: Options) -> tuple[Shape, list[Places]] | None:
    """Give the structure of a recording and the places of its findings; `None` where it is not read."""
    result, file = look(found.path, found.name, closed(options))
    return None if file is None else shape_and_places(result, file)


class Locked(NamedTuple):
    """What the locks say, and the findings that they hold."""

    remarks: list[Remark]
    known: Known


def locked(files: Iterable[Found], options: Options) -> Locked:
    """Hold each file that has a lock beside it against that. Raises `UsageError` for a file that is no lock."""
    remarks: list[Remark] = []
    known: set[tuple[str, Key]] = set()
    for one in files:
        place = lock.place(one.path)
        if not place.is_file():
            continue
        held = lock.load(place)
        now = structure(one, options)
        if now is None:
            remarks.append(_lock(one.name, "unjudged", "recording", "cannot be read any more", fails=True))
            continue
        shape, places = now
        differences = lock.compare(held, shape)
        remarks += [_lock(one.name, c, name, words, fails=c not in lock.HARMLESS) for c, name, words in differences]
        if not differences:
            remarks.append(_lock(one.name, "held", "lock", "the recording is as it says", fails=False))
        known |= {(one.name, finding) for finding in _known(held, places)}
    return Locked(remarks, frozenset(known))


def _known(held: Shape, places: list[Places]) -> Iterator[Key]:
    """Give the findings that the lock names, session by session, as often as it names them."""
    for names, found in zip([held.findings, *(one.findings for one in held.session)], places, strict=False):
        left = Counter(expanded(names))
        for finding, words in found:
            if left[words] > 0:
                left[words] -= 1
                yield finding


def orphans(skipped: Iterable[Skipped]) -> Iterator[Remark]:
    """Tell of locks whose recording is gone."""
    for one in skipped:
        if one.path.endswith(LOCK) and not Path(name := one.path.removesuffix(LOCK)).exists():
            message = "the recording is gone; remove the lock with it, or bring it back"
            yield Remark(topic="lock", change="changed", fails=True, name="recording", message=message, file=name)


def _lock(file: str, change: Change, name: str, message: str, *, fails: bool) -> Remark:
    accept = None if change == "held" else shlex.join(["forensics", "lock", file])
    return Remark(topic="lock", change=change, fails=fails, name=name, message=message, file=file, accept=accept)


def tested(files: Iterable[Found], options: Options) -> Iterator[Remark]:
    """Say of each lock which mutations of its recording it would notice. Raises `UsageError`."""
    for one in files:
        place = lock.place(one.path)
        if not place.is_file():
            continue
        trial = mutate.trial(one.path, one.name, closed(options), lock.load(place))
        missed = [outcome for outcome in trial.outcomes if not outcome.noticed]
        for outcome in missed:
            words = "the lock fails on nothing" if outcome.kind.harmful else "the lock says nothing"
            yield _mutation(one.name, "broken", str(outcome), words)
        noticed = len(trial.outcomes) - len(missed)
        kinds = ", ".join(f"{name} {tried} of {trial.places[name]}" for name, tried in sorted(trial.tried.items()))
        message = f"{noticed:,} of {len(trial.outcomes):,} noticed (tried at: {kinds or 'nothing to mutate'})"
        yield _mutation(one.name, "held", "mutations", message)


def _mutation(file: str, change: Change, name: str, message: str) -> Remark:
    fails = change != "held"
    return Remark(topic="mutation", change=change, fails=fails, name=name, message=message, file=file)
