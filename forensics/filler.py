"""Replace what was said by filler of the same length that still says what kind of thing it was.

The words of continuing, of nudges and of refusals come from a closed list and are kept, a summary's headings stay
headings, an empty text stays empty; of everything else not a word is left. The same text is always the same filler,
different texts are different ones as far as their length lets them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

from forensics import faults
from forensics.attempts import hollow
from forensics.detectors import _words
from forensics.detectors._messages import wording
from forensics.failures import gives_up
from forensics.writing import words

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
_TOKEN = re.compile(r"\d+(?:[-./:]\d+){2,}|[^\W_]+", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_COUNT = 8
_COMMON = words(
    """a an and or not no is are was were be been has have had with without of in on at by to for from than then that
    this it its your you we i can cannot could should would must will may do does did due as if but after before while
    when during between over under above below only all any each per more most less least too many much large larger
    small smaller long longer short shorter big bigger great greater high higher low lower error errors failed failure
    fail fails invalid request requests response responses message messages type code status param parameter value
    values input output prompt prompts completion token tokens context window length limit limits limited maximum
    minimum max min size sizes bytes model models api http https json stream streaming server client provider
    exceeded exceeds exceed exceeding reached allowed requested results resulted contains about reduce increase try
    again later retry retrying retried attempt attempts wait seconds minutes hours ms second minute please contact
    support help see docs documentation details detail reason cause unknown unexpected internal external service
    overloaded capacity busy unavailable temporarily rate quota usage exhausted resource network connection socket
    timeout timed out closed reset refused aborted abort cancelled canceled interrupted terminated incomplete empty
    missing required expected got integer number string null true false below at least supported unsupported found
    compaction compact compacted compacting summary summarize summarization summarise summarisation generated generate
    generation produced returned conversation history session turn turns truncated cut off cap ended finish finished
    stop stopped end start started content filter block blocked safety policy auth authentication unauthorized
    forbidden permission denied key billing credit balance budget plan account overflow recovery exhausted paused
    avoid loop auto automatic continue continued failed oversized image images tool tools call calls result parse
    parsing body header headers gateway bad good upstream downstream fetch operation user agent run process exit
    exited killed signal cooldown last previous next new old same other another one two three first instead because
    text object array field id req ok yes ready thrashing emergency room ran given up give s t d re ll
    however result match reading read write writing event protocol state sent"""
)
_CANONICAL: dict[str, str] = {
    "overflow": "prompt is too long",
    "output-budget": "integer below minimum value",
    "truncated-summary": "summary truncated at the output token limit",
    "empty-summary": "empty summary",
    "rate-limit": "rate limit",
    "quota": "quota exceeded",
    "overloaded": "overloaded",
    "transport": "connection closed",
    "invalid-request": "bad request",
    "auth": "unauthorized",
    "model": "no such model",
    "refusal": "refused",
    "cancelled": "cancelled",
}
_GIVEN_UP = "; recovery failed"
ERROR_WORDS: frozenset[str] = _COMMON | faults.vocabulary()
CLOSED: frozenset[str] = (
    ERROR_WORDS
    | HEADINGS
    | frozenset(
        phrase
        for words in (_words.RESUME, _words.NUDGE, _words.FILLER, _words.RESUME_UNSPACED, _words.NUDGE_UNSPACED)
        for phrase in words.replace("\n", "|").split("|")
    )
    | {*_CANONICAL.values(), _SENTINEL.pattern, _REFUSAL.pattern, _TAG.pattern}
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
        fault, window = faults.classify(text), faults.window(text)
        if self._keep_errors:
            masked = _NOT_ASCII.sub(_foreign, _TOKEN.sub(_word, text))
            if (faults.classify(masked), faults.window(masked), gives_up(masked)) == (fault, window, gives_up(text)):
                return masked
        return canonical(text)

    def _marked(self, text: str, number: int) -> str:
        found = self._marks.search(text) if self._marks else None
        if found is None:
            return _filler(text, number)
        before, after = text[: found.start()], text[found.end() :]
        return _spaced(before, number) + _TIME.sub(self._time, found[0]) + self._rest(after, number)

    def _rest(self, text: str, number: int) -> str:
        return _filler(text, number) if text.strip() else text

    def _time(self, found: re.Match[str]) -> str:
        moved = self._moved(found[0]) if self._moved else None
        return "" if moved is None else moved[: len(found[0])].replace("T", " ")


def canonical(text: str) -> str:
    """Say an error by its class and its figures alone."""
    return _class_of(text) + (_GIVEN_UP if gives_up(text) else "")


def _class_of(text: str) -> str:
    fault, window = faults.classify(text), faults.window(text)
    if fault == "overflow" and window.cap is not None:
        said = f"maximum context length is {window.cap}"
        if window.used is not None:
            said = f"prompt is too long: {window.used} tokens > {window.cap} maximum"
        return said
    if fault == "output-budget":
        return _budget(text)
    return _CANONICAL.get(fault, "failed")


def _budget(text: str) -> str:
    asked = re.search(r"\bgot (-?\d+)|tokens\b.{0,20}? value of (-?\d+)", text, re.IGNORECASE | re.DOTALL)
    bounds = re.search(r"from (\d+)[^\d]{0,20} to (\d+)", text, re.IGNORECASE)
    least = re.search(r">=\s*(\d+)|(?:at least|minimum(?: value)?(?: of| is)?)\s*:?\s*(\d+)", text, re.IGNORECASE)
    said = "Invalid max_output_tokens: integer below minimum value"
    if bounds:
        said += f", from {bounds[1]} to {bounds[2]}"
    elif least:
        said += f", expected a value >= {least[1] or least[2]}"
    return said + (f", but got {asked[1] or asked[2]}" if asked else "")


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if word.lower() in ERROR_WORDS or (word.isdigit() and len(word) <= _COUNT):
        return word
    return "x" * len(word)


def _foreign(found: re.Match[str]) -> str:
    return "".join(part if known else "x" * len(part) for part, known in _known_parts(found[0]))


def _known_parts(text: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for hit in faults.FOREIGN.finditer(text):
        yield text[at : hit.start()], False
        yield hit[0], True
        at = hit.end()
    yield text[at:], False


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
    masked = _masked(text, number)
    if judged is not None and judged.why.startswith("begins with"):
        return _begun(text, number)
    if (wording(masked) is None) == (judged is None):
        return masked
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
    masked = _masked(text, number)
    if len(masked) < 3:
        return "a".ljust(len(masked), ".")[: len(masked)]
    if " " in masked.strip():
        return masked
    middle = len(masked) // 2
    return f"{masked[:middle]} {masked[middle + 1 :]}"


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
