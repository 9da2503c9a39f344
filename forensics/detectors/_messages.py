"""Tell a message that only gets an agent going again from one that brings new work."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from forensics.detect import Confidence
from forensics.detectors import _words
from forensics.events import Event, Fault
from forensics.failures import Break, is_own_compaction
from forensics.patterns import later

_LOWER: dict[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}
_RECOVERED_BY_COMPACTION: frozenset[Fault | None] = frozenset({"overflow", "output-budget"})
_LONG = 80
_LOOKED_AT = 4 * _LONG
_SHORT_WORDS = 8
_SHORT_UNSPACED = 12
_ASIDE = later(r"^\s*(?:\[[^\]\n]{0,80}\]\s*)+")
_MARKS = later(
    r"[.,;:!?\u2026]+(?=\s|$)|\n+|\s[-\u2013\u2014]+\s|[\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff01\uff1f\u060c\u061b\u061f\u0964]+"
)
"""Marks that end a clause; a full stop within a file's name ends none."""
_PREFIXED = r"(?<=\s)(?:\u0648(?!\u0627\u0635\u0644)|\u05d5)(?=\w{3})"
"""The "and" of Arabic and Hebrew, which is written with the next word; one Arabic word of continuing begins with it."""
_ENDS = {"complete", "termine", "resume"}
"""Words of continuing that are, with an accent or after "is", words of having finished, or the name of a summary."""
_FINISHED = later("termin\u00e9|compl\u00e9t\u00e9|r\u00e9sum\u00e9")
_COMPLETE = later(r"\b(?:is|are|its|was|were|i|we|already|now|all|im|youre) complete\b")
_I_FINISHED = later(r"\b(?:i|we|ive|weve)(?: have| am| are)?(?: already| now)? (?:done|finished|completed?)\b")
_QUESTION = later("[?\uff1f\u061f]")
_NEVER = later("(?!)")
_NOT_WORDS = later(r"[\W_]+")
_UNSPACED = later("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")


class Message(NamedTuple):
    """How sure it is that a message brings no new work, and what shows it."""

    confidence: Confidence
    why: str


def judge(one: Break) -> Message | None:
    """Judge the prompt after a break; `None`: it brings new work, or was sent before the break."""
    found = _judged(one)
    after = [row for row in (*one.compactions, one.row) if row.seq >= one.row.seq and row.kind != "reply"]
    ordered = any(row.trigger == "manual" for row in after)
    return found._replace(confidence=_LOWER[found.confidence]) if found is not None and ordered else found


def _judged(one: Break) -> Message | None:
    prompt = one.prompt
    if prompt is None or _sent_before(prompt, one.row):
        return None
    repeated = one.asked.holds(prompt)
    said = None if prompt.text is None or (prompt.size or 0) > _LOOKED_AT else wording(prompt.text)
    if (said is not None and said.confidence == "high") or is_own_compaction(one, prompt):
        return said
    if repeated:
        return Message("high", "the same message again")
    if _after_idle_compaction(one):
        long = len(prompt.text or "") > _LONG or (prompt.size or 0) > _LONG
        return Message("low" if long else "medium", "the agent had fallen idle after a compaction")
    return said


@lru_cache  # two detectors ask, and people write the same words again and again
def wording(text: str) -> Message | None:
    """Judge the words alone: a word of continuing (high), a nudge (medium), one word or so (low)."""
    command = text.lstrip().startswith(("/", "!"))
    plain = _plain(_ASIDE.sub("", text))
    if not plain:
        return None if command or not text.strip() else Message("medium", "no words at all")
    if len(plain) > _LONG:
        return None
    left, resumes, nudges = _stripped(plain)
    if _says_it_is_over(text, plain):
        return None
    if not left and resumes and not _reruns_another_thing(plain):
        return Message("high", "a word of continuing")
    if command:
        return None
    if not left and not resumes:
        nudge = nudges and not _tells_or_asks(text, plain)
        return Message("medium", "a nudge without an instruction") if nudge else None
    if _is_one_word(plain) and not (plain in _listed("REFUSAL") or _is_over(plain)):
        return Message("low", "a single word")
    if _is_short(plain) and not _contrasts(plain) and _only_goes_on(_ASIDE.sub("", text)):
        return Message("low", "begins with a word of continuing")
    return None


def _sent_before(prompt: Event, row: Event) -> bool:
    return prompt.sent is not None and row.ts is not None and prompt.sent < row.ts


def _after_idle_compaction(one: Break) -> bool:
    """Say whether a compaction that worked, and whose agent should have gone on by itself, lies behind."""
    if one.kind == "idle":
        return one.row.outcome not in {"failed", "no-summary"}
    return one.compacted and one.row.fault in _RECOVERED_BY_COMPACTION


def _plain(text: str) -> str:
    """Give the words alone: no case, accents, punctuation or emoji; one space between words."""
    shortened = text[:_LOOKED_AT].replace("'", "").replace("\u2019", "")
    if shortened.isascii():
        return _NOT_WORDS.sub(" ", shortened.lower()).strip()
    decomposed = unicodedata.normalize("NFKD", shortened.casefold())
    bare = "".join(mark for mark in decomposed if unicodedata.category(mark) not in {"Mn", "Cf"})
    return _NOT_WORDS.sub(" ", unicodedata.normalize("NFC", bare)).strip()


def _stripped(plain: str) -> tuple[str, int, int]:
    """Take every known phrase out; give what is left, and how many words of continuing and nudges there were."""
    left, found = plain, []
    for name in ("RESUME", "NUDGE", "FILLER"):
        left, spaced = _without(name, left)
        left, unspaced = _unspaced(f"{name}_UNSPACED", left).subn(" ", left)
        found.append(spaced + unspaced)
    return left.strip(), found[0], found[1]


def _says_it_is_over(text: str, plain: str) -> bool:
    """Whether the only word of continuing says that the work is done ("it is complete"), or thanks again."""
    said = _said("RESUME", plain)
    if not said - _ENDS:
        return _FINISHED.search(unicodedata.normalize("NFC", text.casefold())) is not None or (
            _QUESTION.search(text) is None and _COMPLETE.search(plain) is not None
        )
    return not said - _listed("AGAIN") and any(_thanks_again(_plain(part)) for part in _MARKS.split(text[:_LOOKED_AT]))


def _said(name: str, plain: str) -> set[str]:
    """Give the phrases of a list that a message holds, those of its list without spaces included."""
    spaced = {phrase for phrase, known in _parts(name, plain) if known}
    return spaced | {*_unspaced(f"{name}_UNSPACED", plain).findall(plain)}


def _holds(name: str, plain: str) -> bool:
    return any(known for _, known in _parts(name, plain))


def _begins(name: str, plain: str) -> str | None:
    """Give the longest phrase of a list that a message begins with."""
    phrase, known = next(_parts(name, plain))
    return phrase if known else None


def _without(name: str, plain: str) -> tuple[str, int]:
    """Take every phrase of a list out; give what is left, with a gap where each was, and how many there were."""
    parts = list(_parts(name, plain))
    return " ".join(" " if known else part for part, known in parts), sum(known for _, known in parts)


def _parts(name: str, plain: str) -> Iterator[tuple[str, bool]]:
    """Yield a message's words in order, those of a phrase of a list together: which is which is told.

    The longest phrase wins. To look words up takes a tenth of the time that a pattern of all phrases needs to compile.
    """
    phrases, longest = _listed(name), _longest(name)
    words = plain.split(" ")
    at = 0
    while at < len(words):
        ends = range(min(len(words), at + longest), at, -1)
        end = next((one for one in ends if " ".join(words[at:one]) in phrases), None)
        yield " ".join(words[at : end or at + 1]), end is not None
        at = end or at + 1


def _thanks_again(plain: str) -> bool:
    thanks, again = _phrases("THANKS"), _phrases("AGAIN")
    pattern = rf"(?<!\w)(?:(?:{thanks}) (?:{again})|(?!again)(?:{again}) (?:{thanks}))(?!\w)"
    return re.search(pattern, plain) is not None


def _reruns_another_thing(plain: str) -> bool:
    return not _said("RESUME", plain) - _listed("RERUN") and _holds("THINGS", plain)


def _tells_or_asks(text: str, plain: str) -> bool:
    """Whether a message without a word of continuing says that it is over, or asks for something new."""
    asked = _said("NUDGE", plain) - _listed("YES") - _listed("DONE") - _listed("OVER_UNSPACED")
    if _I_FINISHED.search(plain) is not None:
        return True
    if not asked:
        return _is_over(plain) and _QUESTION.search(text) is None
    return not asked - _listed("ASKS") and _holds("THINGS", plain)


def _is_over(plain: str) -> bool:
    """Whether words say that the work is over."""
    spaced = _holds("THANKS", plain) or _holds("DONE", plain)
    return spaced or _unspaced("OVER_UNSPACED", plain).search(plain) is not None


def _is_one_word(plain: str) -> bool:
    return " " not in plain and len(plain) <= (4 if _is_unspaced(plain) else 15)


def _is_unspaced(plain: str) -> bool:
    """Whether words are of a language that puts no spaces between them."""
    return not plain.isascii() and _UNSPACED.search(plain) is not None


def _is_short(plain: str) -> bool:
    if _is_unspaced(plain):
        return len(plain.replace(" ", "")) <= _SHORT_UNSPACED
    return len(plain.split()) <= _SHORT_WORDS


def _only_goes_on(text: str) -> bool:
    """Whether every clause begins with a word of continuing, or adds nothing: one with its own verb is new work."""
    clauses = [clause for part in _MARKS.split(text[:_LOOKED_AT]) for clause in _clauses(_plain(part))]
    return bool(clauses) and _begins_with_resume(clauses[0]) and all(map(_brings_nothing, clauses))


def _clauses(plain: str) -> list[str]:
    return [clause for part in _then().split(plain) if (clause := part.strip())]


def _brings_nothing(clause: str) -> bool:
    return not _stripped(clause)[0] or _begins_with_resume(clause)


def _begins_with_resume(clause: str) -> bool:
    """Whether a word of continuing comes first, and is tied to what follows it."""
    found = _begins("RESUME", clause)
    if found is None:
        return _unspaced("RESUME_UNSPACED", clause).match(clause) is not None
    rest = clause.removeprefix(found).strip()
    if not rest or found not in _listed("LOOSE"):
        return True
    return found != "go" and _begins("JOINS", rest) is not None


@cache
def _listed(name: str) -> frozenset[str]:
    """Give the phrases of a list, without case, accents and punctuation."""
    return frozenset({_plain(phrase) for phrase in getattr(_words, name).replace("\n", "|").split("|")} - {""})


def _phrases(name: str) -> str:
    return "|".join(re.escape(phrase) for phrase in sorted(_listed(name), key=lambda phrase: (-len(phrase), phrase)))


@cache
def _longest(name: str) -> int:
    """Words of the longest phrase of a list."""
    return max(phrase.count(" ") + 1 for phrase in _listed(name))


def _unspaced(name: str, plain: str) -> re.Pattern[str]:
    """Give what finds a phrase of a list whose languages put no spaces between words; no such phrase is ASCII."""
    return _NEVER if plain.isascii() else _any_of(name)


@cache
def _any_of(name: str) -> re.Pattern[str]:
    return re.compile(_phrases(name))


@cache
def _then() -> re.Pattern[str]:
    """Match the words between two clauses."""
    after = [
        rf"(?<=(?<!\w){re.escape(phrase)} ){word}(?!\w)"
        for phrases, word in _words.THEN_AFTER.items()
        for phrase in phrases.split("|")
    ]
    spaced = rf"(?<!\w)(?:{_phrases('THEN')})(?!\w)"
    return re.compile("|".join((spaced, _phrases("THEN_UNSPACED"), _PREFIXED, *after)))


def _contrasts(plain: str) -> bool:
    return _holds("CONTRAST", plain) or _unspaced("CONTRAST_UNSPACED", plain).search(plain) is not None
