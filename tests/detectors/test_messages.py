"""What a message says alone: the words of continuing of many languages, and those that bring new work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.detectors._messages import wording

NEW_WORK = [
    "Run the tests.",
    "Now part two.",
    "Explain the tests in full too.",
    "drop that tool and try again",
    "write the file",
    "fix it",
    "thanks",
    "stop",
    "no",
    "commit",
    "/compact",
    "/new",
    "!ls",
    "",
    "  ",
    "continue, but skip the tests",
    "retry without the cache",
    "Continue with the migration of the billing tables and then write release notes for each of the customers",
    "继续，但是不要改测试",  # noqa: RUF001  (as Chinese is punctuated)
    "把测试改成新的格式",
    "Schreib stattdessen die Anleitung",
]
CONTINUE = [
    "continue",
    "Continue.",
    "please continue",
    "keep going",
    "contine",
    "go on!",
    "Continue from where you left off, please.",
    "try again",
    "finish the job",
    "/continue",
    "[Wed 2026-03-04 20:04 UTC] continue",
    "继续",
    "请继续",
    "继续完成刚才的任务",
    "請繼續",
    "続けて",
    "続けてください",
    "계속",
    "계속 진행해 주세요",
    "weiter",
    "mach bitte weiter",
    "Fahre bitte mit der Aufgabe fort",
    "continuez s'il vous plaît",
    "continúa",
    "sigue por favor",
    "Reanuda el trabajo desde donde te quedaste",
    "continue de onde parou",
    "vai avanti",
    "продолжай",
    "Продолжай, пожалуйста",
    "продовжуй",
    "devam et lütfen",
    "استمر",
    "ادامه بده",
    "המשך בבקשה",
    "जारी रखें",
    "tiếp tục đi",
    "lanjutkan",
    "ทำต่อครับ",
    "kontynuuj proszę",
    "ga verder",
    "fortsätt",
    "συνέχισε",
]
NUDGES = [
    "ok",
    "si",
    "listo?",
    "hello?",
    "are you there?",
    "status?",
    "why did you stop?",
    "???",
    "回答我",
    "说话呀",
    "👍",
]
UNSURE = ["什么", "hmmmm", "continue the rename in module b", "go ahead with phase 1", "Continue with the next chapter"]


@pytest.mark.parametrize("text", NEW_WORK)
def test_new_work_is_no_word_of_continuing(text: str) -> None:
    assert wording(text) is None


@pytest.mark.parametrize("text", CONTINUE)
def test_a_word_of_continuing_is_sure(text: str) -> None:
    message = wording(text)
    assert message is not None
    assert message.confidence == "high"


@pytest.mark.parametrize("text", NUDGES)
def test_a_nudge_is_likely(text: str) -> None:
    message = wording(text)
    assert message is not None
    assert message.confidence == "medium"


@pytest.mark.parametrize("text", UNSURE)
def test_a_word_or_a_short_beginning_is_unsure(text: str) -> None:
    message = wording(text)
    assert message is not None
    assert message.confidence == "low"


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    message = wording(text)
    assert message is None or message.why


def test_a_huge_message_is_not_searched_through() -> None:
    assert wording("continue " * 1_000_000) is None
