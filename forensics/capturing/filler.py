"""Replace what was said by filler of the same length that still says what kind of thing it was.

The words of continuing, of nudges and of refusals come from a closed list and are kept, a summary's headings stay
headings, an empty text stays empty; of everything else not a word is left. The same text is always the same filler,
different texts are different ones as far as their length lets them.
"""

import re
import unicodedata
from collections.abc import Callable

from forensics.attempts import hollow
from forensics.capturing.error_words import ERROR_WORDS, canonical, kept
from forensics.detectors import _words
from forensics.detectors._messages import wording

LOREM = (
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna"
    " aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat "
)
_LETTERS = "qxzw"
"""No word of continuing, in any language of the list, is made of these."""
_SHORT = 320
"""Characters that the detectors look at when they judge a message by its words."""
_HEADING = re.compile(r"(?P<mark>#{1,6}\s+|\*\*(?=[^*]+\*\*:?\s*$))(?P<name>.*?)(?P<end>\**:?\s*)$")
_PLACEHOLDER = re.compile(r"\s*(?:[-*+]\s*)?(?:\[[ x]\]\s*)?\(?(?:none|n/a|tbd|empty)?\)?\.?\s*", re.IGNORECASE)
_SENTINEL = re.compile(
    r"[^\n]{0,90}?(?P<words>summary unavailable due to (?:context|size) limits"
    r"|\(?no conversation provided to summari[sz]e\)?|no (?:prior|previous) (?:history|conversation))",
    re.IGNORECASE,
)
"""What agents write in a summary's place."""
_REFUSAL = re.compile(r"sorry, (?:but )?i can(?:no|')t (?:assist|help)(?: with that)?", re.IGNORECASE)
_TAG = re.compile(r"</?(?:read-files|modified-files|summary|context-summary)>")
HEADINGS = frozenset(
    """goal|objective|next steps|next move|progress|done|in progress|blocked|constraints & preferences|constraints
    |key decisions|critical context|instructions|discoveries|accomplished|relevant files|files|summary|context
    |important details|work state|turn context (split turn)""".replace("\n    ", "").split("|")
)
"""Headings of the summary templates of pi, opencode, OpenClaw and PilotDeck."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")
CLOSED: frozenset[str] = (
    ERROR_WORDS
    | HEADINGS
    | frozenset(
        phrase
        for words in (_words.RESUME, _words.NUDGE, _words.FILLER, _words.RESUME_UNSPACED, _words.NUDGE_UNSPACED)
        for phrase in words.replace("\n", "|").split("|")
    )
    | {_SENTINEL.pattern, _REFUSAL.pattern, _TAG.pattern}
)
"""Every word that filler may keep: none of them says anything of anybody."""


class Filler:
    """Makes filler; one for a whole file, so that equal texts stay equal.

    `marks`: what it matches of a text is kept, its times are `moved`.
    """

    def __init__(
        self, marks: str | None = None, *, keep_errors: bool = True, moved: Callable[[str], str | None] | None = None
    ) -> None:
        self._marks = re.compile(marks) if marks else None
        self._moved = moved
        self._keep_errors = keep_errors
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Give the filler for what a person, a model or a tool said."""
        if not text.strip():
            return text
        if text not in self._known:
            self._known[text] = self._marked(text, len(self._known))
        return self._known[text]

    def error(self, text: str) -> str:
        """Give an error's words: its known ones, or what its class is known by; figures are kept either way."""
        return kept(text) if self._keep_errors else canonical(text)

    def _marked(self, text: str, number: int) -> str:
        found = list(self._marks.finditer(text)) if self._marks else []
        if not found:
            return _filler(text, number)
        made, at = "", 0
        for mark in found:
            made += self._between(text[at : mark.start()], number) + _TIME.sub(self._time, mark[0])
            at = mark.end()
        return made + self._between(text[at:], number)

    def _between(self, text: str, number: int) -> str:
        """Fill what stands between marks, line by line: agents look for some of them at line ends."""
        if "\n" in text and text.strip():
            return _lines(text, number)
        return _filler(text, number) if text.strip() else text

    def _time(self, found: re.Match[str]) -> str:
        moved = self._moved(found[0]) if self._moved else None
        return "" if moved is None else moved[: len(found[0])].replace("T", " ")


def _filler(text: str, number: int) -> str:
    if sentinel := _SENTINEL.match(text):
        return (sentinel["words"] + _lines(text[sentinel.end() :], number)).ljust(len(text))
    if hollow(text) or "\n#" in text or text.startswith("#"):
        return _lines(text, number)
    if len(text) <= 120 and (refusal := _REFUSAL.search(text)):
        return refusal[0].ljust(len(text), ".")
    return _said(text, number) if len(text) <= _SHORT else _prose(len(text), number, alpha=text[-1].isalpha())


def _lines(text: str, number: int) -> str:
    return "\n".join(_line(line, number) for line in text.split("\n"))


def _line(line: str, number: int) -> str:
    """Keep what makes a summary one: headings as headings, placeholders, the tags of file lists."""
    if _PLACEHOLDER.fullmatch(line) or not re.search(r"\w", line) or _TAG.fullmatch(line.strip()):
        return line
    if heading := _HEADING.fullmatch(line):
        name = heading["name"]
        kept = name if name.strip().strip(":").lower() in HEADINGS else _masked(name, _number_of(name))
        return f"{heading['mark']}{kept}{heading['end']}"
    return _prose(len(line), number, alpha=line.rstrip()[-1:].isalpha())


def _said(text: str, number: int) -> str:
    """Replace a short message so that it is judged as it was: go on, a nudge, one word, or work."""
    judged = wording(text)
    if judged is not None and judged.why in {"a word of continuing", "a nudge without an instruction"}:
        return _closed(text).ljust(len(text), ".")
    made = _masked(text, number)
    if judged is not None and judged.why.startswith("begins with"):
        return _begun(text, number)
    if (wording(made) is None) == (judged is None):
        return made
    return _spaced(text, number)


def _closed(text: str) -> str:
    """Give the words of a message that consists of words of the closed list, without anything between."""
    bare = unicodedata.normalize("NFKC", re.sub(r"^\s*(?:\[[^\]\n]{0,80}\]\s*)+", "", text))
    return re.sub(r"[\W_]+", " ", bare.replace("'", "").replace("\u2019", "")).strip()


def _begun(text: str, number: int) -> str:
    """Keep the first known phrase of a message, mask the words after it."""
    words = _closed(text).split(" ")
    for count in range(min(4, len(words)), 0, -1):
        phrase = " ".join(words[:count])
        found = wording(phrase)
        if found is not None and found.why == "a word of continuing":
            return f"{phrase} {_masked(' '.join(words[count:]), number)}".ljust(len(text), ".")
    phrase = _start_of(text)
    return (phrase + _masked(text[len(phrase) :], number)) if phrase else _masked(text, number)


def _start_of(text: str) -> str:
    """Give a known phrase at the beginning of a text in a script without spaces."""
    phrases = [phrase for phrase in _words.RESUME_UNSPACED.replace("\n", "|").split("|") if phrase]
    return max((phrase for phrase in phrases if text.startswith(phrase)), key=len, default="")


def _spaced(text: str, number: int) -> str:
    """Mask a text and part it, so that it is not a single word."""
    made = _masked(text, number)
    if len(made) < 3:
        return "a".ljust(len(made), ".")[: len(made)]
    if " " in made.strip():
        return made
    middle = len(made) // 2
    return f"{made[:middle]} {made[middle + 1 :]}"


def _masked(text: str, number: int) -> str:
    """Replace letter by letter; spaces stay, other characters become full stops, a command keeps its mark."""
    code = _code(number)
    made: list[str] = []
    for at, character in enumerate(text):
        if character.isspace() or (at == 0 and character in "/!"):
            made.append(character)
        elif character.isalnum() or unicodedata.category(character).startswith("M"):
            made.append(code[len(made) % len(code)])
        else:
            made.append(".")
    return "".join(made)


def _prose(size: int, number: int, *, alpha: bool) -> str:
    words = f"{_code(number)} {LOREM * (size // len(LOREM) + 1)}"[:size]
    return words[:-1] + ("x" if alpha else ".") if words else ""


def _code(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, len(_LETTERS))
        digits = _LETTERS[digit] + digits
    return digits.rjust(4, _LETTERS[0])


def _number_of(name: str) -> int:
    """Give a heading its number by its words, so that the same heading of two summaries stays the same."""
    return sum(map(ord, name.lower())) % 251
