"""Whether what people expect holds of the sessions that were read, does not, or cannot be judged from them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from forensics.checking.conformity import Agreement
from forensics.checking.expect import Group
from forensics.checking.tries import TRIES, apart
from forensics.proof.walk import TooManyStatesError
from forensics.prove import prove
from forensics.rates import wilson
from forensics.remark import Change, Remark
from forensics.replay import PolicyError
from forensics.scan import SessionTotals
from forensics.totals import Figures, totals

Agree = Callable[[str, str], Mapping[str, Agreement] | None]
"""Follows a policy through a file: (file, policy) to agreement by session; `None` for a file that cannot be read."""


def judge(
    asked: Sequence[Group], sessions: Sequence[SessionTotals], parsers: Mapping[str, str], agree: Agree
) -> Iterator[Remark]:
    """Say of every expectation whether it holds. `parsers` maps files to the parsers that read them."""
    for group in asked:
        chosen = [one for one in sessions if group.covers(one)]
        where = "" if group.pattern is None else f" of {group.pattern}"
        if not chosen and group.pattern is not None:
            yield _remark(f"files{where}", "unused", "no session that was read is in such a file")
            continue
        others = [one for one in asked if one.pattern is not None] if group.pattern is None else []
        for key, answer in _JUDGES.items():
            if not group.says(key) or key in group.waived:
                continue
            left = [one for one in chosen if not any(two.says(key) and two.covers(one) for two in others)]
            if left or not chosen:
                found = answer(_Sessions(left, dict(parsers), agree), group.asked)
                yield from (msgspec.structs.replace(one, name=key + where) for one in found)


class _Answer(NamedTuple):
    """What one session says to an expectation: `holds` is `None` where it cannot be judged."""

    holds: bool | None
    words: str
    session: SessionTotals


def _every(answers: Iterator[_Answer]) -> list[Remark]:
    """Put the sessions' answers together: those that break it one by one, those that cannot be judged as one."""
    found = list(answers)
    if not found:
        return [_remark("", "unjudged", "no session was read")]
    remarks = [_of(one, "broken") for one in found if one.holds is False]
    dark = [one for one in found if one.holds is None]
    if dark:
        more = f", and {len(dark) - 1:,} more sessions" if len(dark) > 1 else ""
        remarks.append(_of(dark[0]._replace(words=f"cannot be judged: {dark[0].words}{more}"), "unjudged"))
    if not remarks:
        words = f"in all {len(found):,} sessions" if len(found) > 1 else found[0].words
        remarks.append(_remark("", "held", words))
    return remarks


def _of(one: _Answer, change: Change) -> Remark:
    return msgspec.structs.replace(_remark("", change, one.words), file=one.session.file, session=one.session.session)


def _remark(name: str, change: Change, message: str) -> Remark:
    return Remark(
        topic="expectation", change=change, fails=change in {"broken", "unjudged"}, name=name, message=message
    )


class _Sessions:
    """The sessions that are judged; files that hold the same session are one session."""

    def __init__(self, sessions: Sequence[SessionTotals], parsers: dict[str, str], agree: Agree) -> None:
        self._agree = agree
        views: defaultdict[tuple[str, str], list[SessionTotals]] = defaultdict(list)
        for one in sessions:
            views[one.agent, one.session].append(one)
        self.views = [views[key] for key in sorted(views)]
        self.figures: list[Figures] = [totals(one, parsers)[0] for one in self.views]

    def compactions(self, most: int) -> Iterator[_Answer]:
        for views, figures in zip(self.views, self.figures, strict=True):
            known = [one for one in views if one.compactions_per_prompt is not None]
            worst = max(known, key=lambda one: one.compactions_per_prompt or 0, default=views[0])
            count = worst.compactions_per_prompt or 0
            attempts = int(figures.get("compactions.attempts", 0))
            if count > most:
                yield _Answer(False, f"{count:,} for one prompt, at most {most:,}", worst)
            elif any(map(_shows_failed, known)):
                yield _Answer(True, f"{count:,} for one prompt, at most {most:,}", worst)
            elif attempts <= most and any(map(_shows_failed, views)):
                yield _Answer(True, f"{attempts:,} in the whole session, at most {most:,}", views[0])
            elif known or attempts <= most:
                words = (
                    f"{count if known else attempts:,} can be seen, but the file does not show compactions that failed"
                )
                yield _Answer(None, words, worst)
            else:
                yield _Answer(None, "the format shows no prompts", views[0])

    def ratios(self, most: float) -> Iterator[_Answer]:
        for views in self.views:
            known = [one for one in views if one.peak_ratio is not None]
            if known:
                worst = max(known, key=lambda one: one.peak_ratio or 0.0)
                ratio = worst.peak_ratio or 0.0
                yield _Answer(ratio <= most, f"{ratio:g} of the window, at most {most:g}", worst)
            elif any(one.replies != 0 for one in views):
                sized = any(one.peak_context is not None for one in views)
                words = "no context window is known; give --cap" if sized else "no context size is recorded"
                yield _Answer(None, words, views[0])
            else:
                yield _Answer(True, "nothing was sent", views[0])

    def continues(self, most: int) -> Remark:
        known = [int(one["manual_continues"]) for one in self.figures if "manual_continues" in one]
        dark = len(self.figures) - len(known)
        told = f"{sum(known):,} in {len(known):,} session{'' if len(known) == 1 else 's'}, at most {most:,}"
        if sum(known) > most:
            return _remark("", "broken", told)
        if dark or not known:
            why = f"{dark:,} of {len(self.figures):,} sessions show no prompts" if dark else "no session was read"
            return _remark("", "unjudged", f"cannot be judged: {why}")
        return _remark("", "held", told)

    def no_summary(self, most: float) -> Remark:
        gone = done = open_ = dark = 0
        for one in self.figures:
            if not {"compactions.no_summary", "compactions.failed"} <= one.keys():
                dark += 1
            gone += int(one.get("compactions.no_summary", 0) + one.get("compactions.failed", 0))
            done += int(one.get("compactions.summaries", 0))
            open_ += int(one.get("compactions.unknown", 0))
        tries = gone + done + open_
        told = f"{gone:,} of {tries:,} {TRIES} made none"
        if tries:
            low, high = wilson(gone, tries)
            told += f" ({gone / tries:.0%}; 95 %: {low:.0%} to {high:.0%}), at most {most:.0%}"
        told += apart(self.figures)
        if tries and gone > most * tries:
            return _remark("", "broken", told)
        if dark or not self.figures:
            many = f"{dark:,} of {len(self.figures):,} sessions cannot show failed compactions"
            return _remark("", "unjudged", f"cannot be judged: {many if dark else 'no session was read'}")
        if open_ and gone + open_ > most * tries:
            return _remark("", "unjudged", f"cannot be judged: {told}, and {open_:,} never ended")
        return _remark("", "held", told)

    def conforms(self, policy: str) -> Iterator[_Answer]:
        by_file: dict[str, Mapping[str, Agreement] | None] = {}
        for one in (view for views in self.views for view in views):
            if one.file not in by_file:
                by_file[one.file] = self._agree(one.file, policy)
            found = (by_file[one.file] or {}).get(one.session)
            if found is None:
                yield _Answer(None, "the file cannot be read again", one)
                continue
            counted = f"{found.equal:,} of {found.decisions:,} decisions are equal"
            if found.holds is False:
                line = f"line {found.line}: " if found.line is not None else ""
                yield _Answer(False, f"{line}{found.departs}; {counted}", one)
            elif found.holds is None:
                yield _Answer(None, f"the file does not show what decided: {counted}", one)
            else:
                dark = f", {found.undetermined:,} cannot be told" if found.undetermined else ""
                yield _Answer(True, f"{counted}{dark}" if found.decisions else "there was nothing to decide", one)


def _shows_failed(one: SessionTotals) -> bool:
    """Whether attempts that failed are in the count; where they are not, a small one says nothing."""
    return one.compactions.failed is not None


def _proved(policy: str, names: Sequence[str]) -> Iterator[Remark]:
    try:
        proof = prove(policy)
    except (PolicyError, TooManyStatesError) as error:
        yield _remark("", "unjudged", f"cannot be judged: {policy}: {error}")
        return
    verdicts = {str(name): judged.overall for name, judged in proof.verdicts.items()}
    for name in names:
        verdict = verdicts[name]
        words = f"{policy} is {'' if verdict.holds else 'not '}{name}: {verdict.reason}"
        yield _remark("", "held" if verdict.holds else "broken", words)


_JUDGES: dict[str, Callable[[_Sessions, Any], list[Remark]]] = {
    "max-compactions-per-prompt": lambda seen, asked: _every(seen.compactions(asked.max_compactions_per_prompt)),
    "max-no-summary-rate": lambda seen, asked: [seen.no_summary(asked.max_no_summary_rate)],
    "max-manual-continues": lambda seen, asked: [seen.continues(asked.max_manual_continues)],
    "max-context-ratio": lambda seen, asked: _every(seen.ratios(asked.max_context_ratio)),
    "conforms-to": lambda seen, asked: _every(seen.conforms(asked.conforms_to)),
    "proved": lambda _, asked: list(_proved(asked.conforms_to, asked.proved)),
}
"""How each key is judged: what holds is one remark, and so is what cannot be judged."""
