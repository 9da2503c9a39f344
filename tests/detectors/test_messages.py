"""What a message says alone: the words of continuing of many languages, and those that bring new work."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.detectors import _messages, _words
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
    "go back to main.py and add logging",
    "Resume parsing: write a CV parser",
    "go fix the login page",
    "go to the settings page",
    "go ahead and add logging",
    "continue, then write the release notes",
    "continue and rename the module",
    "Continue by adding tests for the parser",
    "again, write the parser in Rust",
    "again run the linter on src",
    "retry, and use the new key",
    "proceed. Also delete the old files.",
    "finish; commit the result to main",
    "weiter, und schreib danach die Tests",
    "mach weiter und füge Logging hinzu",
    "Nochmal: schreib den Parser neu",
    "continue et ajoute des tests",
    "reprends puis supprime le cache",
    "vas-y, écris les tests",
    "continúa y añade pruebas",
    "sigue, luego borra la caché",
    "continue e adicione testes",
    "avanti, scrivi i test",
    "ga verder en voeg logging toe",
    "fortsätt och lägg till tester",
    "kontynuuj i dodaj testy",
    "pokračuj a přidej testy",
    "jatka ja lisää testit",
    "продолжай и добавь логи",
    "давай напишем тесты",
    "продовжуй, потім додай тести",
    "devam et ve testleri yaz",
    "συνέχισε και πρόσθεσε τεστ",
    "استمر وأضف السجلات",
    "ادامه بده و لاگ اضافه کن",
    "המשך והוסף לוגים",
    "जारी रखो और लॉग जोड़ो",
    "tiếp tục và thêm log",
    "lanjutkan dan tambahkan log",
    "继续，然后写测试",  # noqa: RUF001  (as Chinese is punctuated)
    "继续并添加日志",
    "続けて、テストを書いて",
    "계속하고 로그 추가",
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
    "please continue where you left off",
    "ok go on",
    "continue please, thanks",
    "Continue: from where you left off",
    "yes, continue",
    "continue and finish",
    "keep going, almost there",
    "continue, sorry, lost connection",
    "go go go",
    "devam et, lütfen",
    "من فضلك واصل",
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
UNSURE = [
    "什么",
    "hmmmm",
    "continue the rename in module b",
    "go ahead with phase 1",
    "Continue with the next chapter",
    "Continue with step 2, please.",
    "continue fixing main.py",
    "retry the build",
    "retry and continue with step 3",
    "go on with the migration",
    "again from step 3",
    "weiter mit der Migration",
    "continue avec le chapitre 2",
    "continúa con el módulo b",
    "продолжай с главы 2",  # noqa: RUF001  (a Cyrillic word of one letter)
    "kontynuuj z krokiem 2",
    "继续下一章",
    "続けて書いて",
]


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


@pytest.mark.parametrize("words", ["continue", "weiter", "continúa", "продолжай", "devam et"])
@given(st.text(st.characters(categories=["L", "Nd", "Po", "Zs"]), max_size=30))
def test_a_clause_of_its_own_after_a_word_of_continuing_is_never_low(words: str, more: str) -> None:
    found = wording(f"{words}: write {more}")
    assert found is None or found.confidence != "low"


OVER = [
    "done", "already done", "work done, thanks", "ok thanks", "thanks", "yes, done", "I have completed the last step",
    "I have completed the last step, what is next", "we are done", "it is complete", "the task is complete", "fixed",
    "thanks again", "thanks again, please", "encore merci", "danke nochmal", "fertig",
    "ja danke", "erledigt", "fini", "Terminé.", "terminées", "complété",
    "ok merci", "listo", "vale, gracias", "hecho", "pronto", "sim, obrigado", "obrigada", "fatto", "grazie ancora",
    "klaar", "tack igen", "kiitos", "gotowe", "dziękuję", "hotovo", "ok, díky", "kész", "gata", "готово", "да, спасибо",
    "спасибо ещё раз", "дякую", "έτοιμο", "tamam, teşekkürler", "bitti", "شكرا", "نعم شكرا", "ممنون", "תודה", "धन्यवाद",
    "ok, cảm ơn", "xong", "sudah", "ok makasih", "selesai", "好了", "好的谢谢", "多谢", "搞定", "完成了", "終わった",
    "はい、ありがとう", "고마워", "네 감사", "끝났어", "จบ", "résumé",
]  # fmt: skip
"""Messages that say that it is over, or thank."""
ASKS = ["What was the response message?", "what is the session", "why the request?", "ok, what was the output"]
"""Messages that ask for something new."""


@pytest.mark.parametrize("text", [*OVER, *ASKS])
def test_a_message_that_says_it_is_over_or_asks_something_new_is_no_nudge(text: str) -> None:
    assert wording(text) is None


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("done?", "medium"),
        ("are you done", "medium"),
        ("fertig?", "medium"),
        ("listo?", "medium"),
        ("готово?", "medium"),
        ("好了吗", "medium"),
        ("終わった？", "medium"),  # noqa: RUF001  (as Japanese is punctuated)
        ("status please, thanks", "medium"),
        ("what happened to the response", "medium"),
        ("what now", "medium"),
        ("why", "medium"),
        ("and the answer?", "medium"),
        ("is it complete?", "high"),
        ("it is complete?", "high"),
        ("complete the task", "high"),
        ("ok, continue until it is done", "high"),
        ("continue, I have finished", "high"),
        ("continue until it is complete", "high"),
        ("继续 it is complete", "high"),
        ("continue, thanks again", "high"),
        ("继续，谢谢", "high"),  # noqa: RUF001  (as Chinese is punctuated)
        ("回答我，谢谢", "medium"),  # noqa: RUF001  (as Chinese is punctuated)
        ("ok, the response", "medium"),
        ("why are you stuck in the process", "medium"),
        ("again please, thanks", "high"),
        ("encore, merci", "high"),
        ("termine", "high"),
        ("resume", "high"),
        ("restart", "high"),
        ("restart the task", "high"),
        ("retry the request", "high"),
        ("restart the process", "low"),
        ("rerun the session", "low"),
    ],
)
def test_a_question_how_it_stands_and_a_word_of_continuing_beside_thanks_count(text: str, confidence: str) -> None:
    judged = wording(text)
    assert judged is not None
    assert judged.confidence == confidence


def _lists(ending: str) -> list[str]:
    return [name for name in vars(_words) if name.isupper() and name.endswith(ending) and name != "THEN_AFTER"]


def test_the_lists_hold_what_a_message_is_held_against() -> None:
    """Words are looked up between spaces; a message in ASCII is not held against the languages without spaces."""
    for name in _lists(""):
        phrases = _messages._listed(name)
        assert phrases, name
        if name.endswith("UNSPACED"):
            assert not any(map(str.isascii, phrases)), name
        else:
            assert all(re.fullmatch(r"\w+(?: \w+)*", phrase) for phrase in phrases), name


@given(st.lists(st.sampled_from(["go", "on", "continue", "keep", "going", "then", "x", ""]), min_size=1, max_size=8))
def test_looking_words_up_finds_what_a_pattern_of_all_phrases_finds(words: list[str]) -> None:
    text = " ".join(words)
    pattern = re.compile(rf"(?<!\w)(?:{_messages._phrases('RESUME')})(?!\w)")
    assert _messages._without("RESUME", text) == pattern.subn(" ", text)
    found = pattern.match(text)
    assert _messages._begins("RESUME", text) == (found and found[0])
    assert _messages._holds("RESUME", text) == (pattern.search(text) is not None)


def test_a_contrast_in_a_language_without_spaces_is_new_work() -> None:
    said = wording("继续用红色")
    assert said is not None
    assert said.confidence == "low"
    assert wording("继续但是用红色") is None
