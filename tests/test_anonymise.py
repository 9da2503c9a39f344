"""What is taken out of a capture, and what of it must stay."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics import faults
from forensics.attempts import hollow
from forensics.capturing.anonymise import Anonymiser, survivors
from forensics.capturing.filler import Filler
from forensics.detectors._messages import wording
from forensics.writing import Piece, Rules, Writer

RULES: Rules = {
    "id": ("id",),
    "parent": ("id",),
    "when": ("time",),
    "said": ("text",),
    "error": ("error",),
    "tokens": ("number",),
    "model": ("name",),
    "role": (frozenset({"user", "assistant"}),),
    "inner": ("inside",),
    "inner.tokens": ("text",),
    "packed": ("json",),
    "folder": ("path",),
    "arguments": ("empty",),
}


def _writer(rules: Rules = RULES, prefixes: tuple[str, ...] = ("ses_",)) -> Writer:
    return Writer("test", ".jsonl", lambda *_: iter(()), lambda *_: None, rules, None, prefixes, lined=True)


def _anonymous(*values: dict[str, Any], keep_errors: bool = True) -> list[dict[str, Any]]:
    pieces = [Piece(value=value) for value in values]
    made = Anonymiser(_writer(), pieces, keep_errors=keep_errors)
    return [made.piece(piece).value for piece in pieces]


def test_a_field_that_no_rule_names_is_left_out() -> None:
    assert _anonymous({"role": "user", "secret": "hunter2", "also": {"id": "x"}, "nothing": None}) == [{"role": "user"}]


def test_a_value_of_a_type_that_its_rule_does_not_expect_is_left_out() -> None:
    assert _anonymous({"tokens": "4111 1111", "said": 4111, "role": "hunter2", "id": {"id": "x"}}) == [{}]


def test_ids_are_renamed_the_same_everywhere_and_keep_their_order_and_what_they_are_of() -> None:
    made = _anonymous({"id": "ses_zeta", "parent": "ses_alpha"}, {"id": "ses_alpha", "parent": None})
    assert made == [
        {"id": "ses_id20223e48-2", "parent": "ses_id20223e48-1"},
        {"id": "ses_id20223e48-1", "parent": None},
    ]


def test_ids_are_those_of_one_finding_in_one_source_and_the_same_each_time() -> None:
    def mark(finding: str, *ids: str) -> str:
        return Anonymiser(_writer(), [Piece(value={"id": one}) for one in ids], keep_errors=True, finding=finding).mark

    assert mark("f1", "a", "b") == mark("f1", "b", "a")
    assert len({mark("f1", "a"), mark("f2", "a"), mark("f1", "b"), mark("f1", "a", "b")}) == 4


def test_times_move_together_whatever_they_are_written_as() -> None:
    made = _anonymous(
        {"when": "2026-03-01T10:00:00.250+02:00"},
        {"when": 1772352005250},
        {"when": 1772352010},
        {"when": "2026-03-01T08:00:20Z"},
        {"when": "yesterday at Bob's"},
        {"when": 0},
    )
    assert made == [
        {"when": "2020-01-01T00:00:00.000Z"},
        {"when": 1577836805000},
        {"when": 1577836809},
        {"when": "2020-01-01T00:00:19Z"},
        {},
        {"when": 0},
    ]


def test_names_that_everybody_knows_stay_and_others_are_numbered() -> None:
    made = _anonymous({"model": "openai"}, {"model": "acme-internal-7"}, {"model": "x"}, {"model": "acme-internal-7"})
    assert [one["model"] for one in made] == ["openai", "name-1", "name-2", "name-1"]


def test_what_lies_inside_is_looked_into_and_a_rule_of_a_place_wins() -> None:
    made = _anonymous({"inner": {"tokens": "abc", "id": "q", "secret": 1}, "arguments": {"path": "/home/ann"}})
    assert made == [{"inner": {"tokens": "qqqq"[:3], "id": "id9bfc8c8d-1"}, "arguments": {}}]


def test_json_in_a_text_is_anonymised_as_json() -> None:
    made = _anonymous({"packed": '{"role":"user","id":"a","secret":"hunter2"}'}, {"packed": "hunter2"})
    assert made == [{"packed": '{"role":"user","id":"idca234c55-1"}'}, {}]


def test_a_path_becomes_one_that_says_nothing() -> None:
    assert _anonymous({"folder": "/home/ann/acme"}) == [{"folder": "/project"}]


@given(
    st.recursive(
        st.text(alphabet="SECRETWORDsecret0/", min_size=8, max_size=12),
        lambda inner: st.dictionaries(st.sampled_from([*RULES, "other", "more"]), inner, max_size=5),
        max_leaves=20,
    )
)
def test_no_word_of_any_field_survives(value: Any) -> None:
    pieces = [Piece(value={"inner": value, "said": "SECRETWORD here", "error": "SECRETWORD failed"})]
    made = Anonymiser(_writer(), pieces, keep_errors=True)
    written = repr(made.piece(pieces[0]).value)
    assert "SECRETWORD" not in written
    assert survivors(pieces, written.encode(), _writer()) == []


def test_a_word_that_would_survive_is_found() -> None:
    pieces = [Piece(value={"said": "the Zanzibar project"})]
    assert survivors(pieces, b'{"said":"zanzibar"}', _writer()) == ["zanzibar"]
    assert survivors(pieces, b'{"said":"qqqq qqqqqqqq"}', _writer()) == []


@pytest.mark.parametrize(
    "text",
    [
        "continue", "Please continue!", "weiter", "继续", "/continue", "ok", "hello?", "??", "banana", "stop", "fix it",
        "continue with the Zanzibar report", "please add a test for the parser", "go on\n", "修复登录问题", "👍",
        "[Bob] go", "/compact", "continua por favor", "x" * 500, "what happened", "don't stop", "a", "...",
        "Zanzibar Quetzal",
    ],
)  # fmt: skip
def test_filler_of_a_message_is_judged_as_the_message_was(text: str) -> None:
    made = Filler().text(text)
    before, after = wording(text), wording(made)
    assert (before and before.confidence) == (after and after.confidence), made
    assert len(made) == len(text)
    for word in ("banana", "Zanzibar", "Quetzal", "report", "parser", "Bob"):
        assert word not in made


def test_filler_of_equal_texts_is_equal_and_of_different_ones_different() -> None:
    filler = Filler()
    texts = [f"run {number} of the job" for number in range(200)] + ["a long one " * 50, "a long two " * 50]
    made = [filler.text(text) for text in texts]
    assert len(set(made)) == len(texts)
    assert [filler.text(text) for text in texts] == made


@pytest.mark.parametrize(
    "summary",
    [
        "", "  \n", "## Goal\n\n## Next Steps\n- (none)", "## Goal\n(none)\n\n<read-files>\n/home/ann/x\n</read-files>",
        "Summary unavailable due to context limits. Older messages were truncated.",
        "\n\n---\n\n**Turn Context (split turn):**\n\n\n<read-files>\n/srv/demo\n</read-files>",
    ],
)  # fmt: skip
def test_an_empty_summary_stays_empty_and_a_full_one_full(summary: str) -> None:
    assert hollow(Filler().text(summary)) == hollow(summary)
    full = f"{summary}\nBob painted the shelves."
    made = Filler().text(full)
    assert not hollow(made)
    assert "Bob" not in made
    assert "ann" not in made


def test_headings_of_templates_stay_and_others_are_masked_the_same_in_every_summary() -> None:
    filler = Filler()
    one = filler.text("## Goal\nSell the boat.\n## Harbour Fees\nPaid.")
    two = filler.text("## Goal\nSell the car.\n## Harbour Fees\nDue.")
    assert one.startswith("## Goal\n")
    assert "Harbour" not in one
    assert one.split("\n")[2] == two.split("\n")[2]
    assert one.split("\n")[1] != two.split("\n")[1]


@pytest.mark.parametrize(
    "error",
    [
        "400 prompt is too long: 213462 tokens > 200000 maximum (request req_011CQabc for org Acme-Zanzibar)",
        "This model's maximum context length is 48000 tokens. However, your messages resulted in 69032 tokens.",
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
        "429 rate limit for key sk-proj-abcdefghijk of zanzibar@example.com",
        "connect ECONNREFUSED 10.11.12.13:8443 https://llm.zanzibar.corp/v1",
        "上下文过长 zanzibar",
        "Zanzibar",
        "Conversation history too large to compact",
    ],
)
@pytest.mark.parametrize("keep", [True, False])
def test_an_error_keeps_its_class_and_figures_and_none_of_its_private_words(error: str, keep: bool) -> None:
    made = Filler(keep_errors=keep).error(error)
    assert faults.classify(made) == faults.classify(error)
    assert faults.window(made) == faults.window(error)
    lowered = made.lower()
    for word in ("zanzibar", "acme", "011cq", "abcdefg", "example", "10.11", "corp"):
        assert word not in lowered


def test_a_long_number_in_an_error_is_no_figure() -> None:
    assert "4111111111111111" not in Filler().error("invalid request: card 4111111111111111")


@pytest.mark.parametrize("time", [float("inf"), float("-inf"), float("nan")])
def test_a_time_that_is_no_number_is_no_time(time: float) -> None:
    """One header with the time 1e400 ended a capture."""
    first, second = _anonymous({"when": time, "said": "x"}, {"when": 1_782_900_000_000, "said": "y"})
    assert first["when"] == 0
    assert second["when"] == 1_577_836_800_000
