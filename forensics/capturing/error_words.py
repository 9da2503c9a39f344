"""The words of errors that say what went wrong and of nobody: what an error text may keep when it is shared."""

import re
from collections.abc import Iterator

from forensics import faults
from forensics.failures import gives_up
from forensics.writing import words

_TOKEN = re.compile(r"\d+(?:[-./:]\d+){2,}|[^\W_]+", re.ASCII)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_FIGURE = re.compile(r"\d+(?:ms|s|h|k|kb|mb)?", re.IGNORECASE)
_COUNT = 8
_COMMON = words("""
a an and or not no is are was were be been has have had with without of in on at by to for from than then that this
it its your you we i can cannot could should would must will may do does did due as if but after before while when
during between over under above below only all any each per more most less least too many much large larger small
smaller long longer short shorter big bigger great greater high higher low lower error errors failed failure fail
fails invalid request requests response responses message messages type code status param parameter value values
input output prompt prompts completion token tokens context window length limit limits limited maximum minimum max
min size sizes bytes model models api http https json stream streaming server client provider exceeded exceeds
exceed exceeding reached allowed requested results resulted contains about reduce increase try again later retry
retrying retried attempt attempts wait seconds minutes hours ms second minute please contact support help see docs
documentation details detail reason cause unknown unexpected internal external service overloaded capacity busy
unavailable temporarily rate quota usage exhausted resource network connection socket timeout timed out closed reset
refused aborted abort cancelled canceled interrupted terminated incomplete empty missing required expected got
integer number string null true false supported unsupported found compaction compact compacted compacting summary
summarize summarization summarise summarisation generated generate generation produced returned conversation history
session turn turns truncated cut off cap ended finish finished stop stopped end start started content filter block
blocked safety policy auth authentication unauthorized forbidden permission denied key billing credit balance budget
plan account overflow recovery paused avoid loop auto automatic continue continued oversized image images tool tools
call calls result parse parsing body header headers gateway bad good upstream downstream fetch operation user agent
run process exit exited killed signal cooldown last previous next new old same other another one two three first
instead because text object array field id req ok yes ready thrashing emergency room ran given up give s t d re ll
however match reading read write writing event protocol state sent effective ineffective trigger spawn spawned
listening desktop runtime pilotdeck shutdown snapshot telemetry transientretry zeroretry zerousageretry delay
attempted mode gone starting crashed recoverable fatal structure weak target hard truncate openai anthropic blocking
agentloop log queue
""")
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


def masked(text: str) -> str:
    """Give the text with its known words of errors and its small numbers, everything else crossed out."""
    return _NOT_ASCII.sub(_foreign, _TOKEN.sub(_word, text))


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
    if word.lower() in ERROR_WORDS or (_FIGURE.fullmatch(word) and len(word) <= _COUNT):
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


def kept(text: str) -> str:
    """Give an error's known words, or, where these do not say the same, what its class is known by."""
    cut = masked(text)
    return cut if _said(cut) == _said(text) else canonical(text)


def _said(text: str) -> tuple[object, ...]:
    return faults.classify(text), faults.window(text), gives_up(text)
