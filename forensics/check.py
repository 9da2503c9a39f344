"""Hold recordings against the locks beside them, against mutations of themselves, and against policies."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from forensics.checking import lock
from forensics.checking.conformity import Agreement, agreements
from forensics.checking.expect import Group
from forensics.checking.judge import Agree
from forensics.checking.judge import judge as judge_all
from forensics.checking.marks import Key, Known, Rules, marker
from forensics.checking.mutate import trial
from forensics.checking.shape import Places, Shape, expanded, shape_and_places
from forensics.inputs import LOCK, Found
from forensics.remark import Change, Remark
from forensics.scan import Options, Result, SessionTotals, Skipped, look
from forensics.summary import Report, Terms, summarise


def checked(
    files: Sequence[Found],
    results: Sequence[Result],
    skipped: Sequence[Skipped],
    options: Options,
    *,
    terms: Terms,
    rules: Rules,
    expected: Sequence[Group] = (),
    mutate: bool = False,
) -> Report:
    """Put the results together and hold them against all that is known and asked. Raises `UsageError`."""
    locks = locked(files, options)
    remarks = [*locks.remarks, *orphans(skipped), *(tested(files, options) if mutate else ())]
    parsers = {one.input.path: one.input.parser for one in results if one.input}

    def judge(sessions: list[SessionTotals]) -> list[Remark]:
        return [*remarks, *judge_all(expected, sessions, parsers, agree(files, options))]

    mark = marker(rules, judge, locks.known)
    return summarise(results, skipped, terms, options.detectors or (), mark)


def closed(options: Options) -> Options:
    """Run all detectors, and leave the end of a file unjudged: a lock says the same on every day."""
    return msgspec.structs.replace(options, detectors=None, now=None)


def structure(found: Found, options: Options) -> tuple[Shape, list[Places]] | None:
    """Give the structure of a recording and the places of its findings; `None` where it is not read."""
    result, file = look(found.path, found.name, closed(options))
    return None if file is None else shape_and_places(result, file, options.cap)


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
    with_locks = [one for one in files if lock.place(one.path).is_file()]
    if not with_locks:
        message = "there is no lock to test; write one with forensics lock"
        yield Remark(topic="mutation", change="unjudged", fails=True, name="trial", message=message)
    for one in with_locks:
        place = lock.place(one.path)
        found = trial(one.path, one.name, closed(options), lock.load(place))
        missed = [outcome for outcome in found.outcomes if not outcome.noticed]
        for outcome in missed:
            words = "the lock fails on nothing" if outcome.kind.harmful else "the lock says nothing"
            yield _mutation(one.name, "broken", str(outcome), words)
        noticed = len(found.outcomes) - len(missed)
        kinds = ", ".join(f"{name} {tried} of {found.places[name]}" for name, tried in sorted(found.tried.items()))
        message = f"{noticed:,} of {len(found.outcomes):,} noticed (tried at: {kinds or 'nothing to mutate'})"
        yield _mutation(one.name, "held", "trial", message)


def _mutation(file: str, change: Change, name: str, message: str) -> Remark:
    fails = change != "held"
    return Remark(topic="mutation", change=change, fails=fails, name=name, message=message, file=file)


def agree(files: Iterable[Found], options: Options) -> Agree:
    """Give what follows a policy through one of these files, for expectations."""
    known = {one.name: one for one in files}

    def follow(name: str, policy: str) -> Mapping[str, Agreement] | None:
        one = known[name]
        result, file = look(one.path, one.name, closed(options))
        if file is None or result.input is None:
            return None
        return {session.id: found for session, found in agreements(file, result.input, policy, options.cap)}

    return follow
