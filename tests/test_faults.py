import pytest

from forensics.events import Fault
from forensics.faults import FOREIGN, Window, classify, vocabulary, window


@pytest.mark.parametrize("error", [None, "", "something else happened"], ids=["none", "empty", "other"])
def test_words_that_say_nothing_are_unknown(error: str | None) -> None:
    assert classify(error) == "unknown"


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16", "output-budget"),
        ("max_tokens must be at least 1, got -1385", "output-budget"),
        ("This model's maximum context length is 48000 tokens. Your messages resulted in 52112 tokens.", "overflow"),
        ("prompt is too long: 208380 tokens > 200000 maximum", "overflow"),
        ("Your input exceeds the context window of this model", "overflow"),
        ("context_length_exceeded", "overflow"),
        ("413 status code (no body)", "overflow"),
        ("429 Rate limit reached: too many tokens per minute", "rate-limit"),
        ("Throttling error: too many tokens, please wait", "rate-limit"),
        ('529 {"type":"overloaded_error","message":"Overloaded"}', "overloaded"),
        ("503 Service Unavailable", "overloaded"),
        ("terminated: Response does not match the HTTP/1.1 protocol", "transport"),
        ("read ECONNRESET", "transport"),
        ("Error reading response: malformed server-sent event JSON.", "transport"),
        ("Summary model output was truncated at the token limit", "truncated-summary"),
        ("Summarization failed: generation hit the token cap and the summary is incomplete", "truncated-summary"),
        ("Summary model returned empty content", "empty-summary"),
        ("compaction generator returned no summary", "empty-summary"),
        ("You've hit your session limit - resets 12:50am", "quota"),
        ("401 Unauthorized", "auth"),
        ("Request was aborted.", "cancelled"),
        ("messages.3: tool_use ids were found without tool_result blocks", "invalid-request"),
    ],
)  # fmt: skip
def test_a_provider_s_words_have_one_class(error: str, fault: Fault) -> None:
    assert classify(error) == fault


@pytest.mark.parametrize(
    ("status", "fault"), [(413, "overflow"), (429, "rate-limit"), (500, "overloaded"), (401, "auth"), (418, "unknown")]
)
def test_without_words_the_status_decides(status: int, fault: Fault) -> None:
    assert classify(None, status) == fault


@pytest.mark.parametrize(
    ("error", "sizes"),
    [
        ("prompt is too long: 208380 tokens > 200000 maximum", Window(208_380, 200_000)),
        ("maximum context length is 48000 tokens. Your messages resulted in 52112 tokens", Window(52_112, 48_000)),
        ("maximum context length is 131,072 tokens", Window(None, 131_072)),
        ("the context window is full", Window(None, None)),
    ],
)  # fmt: skip
def test_sizes_are_read_out_of_an_overflow(error: str, sizes: Window) -> None:
    assert window(error) == sizes


def test_the_vocabulary_holds_the_words_of_every_class_and_no_syntax_of_patterns() -> None:
    words = vocabulary()
    assert {"prompt", "overloaded", "econnreset", "contextoverflowerror", "quota", "truncated"} <= words
    assert all(word.isalpha() and word == word.lower() for word in words)


def test_what_is_not_ascii_in_the_patterns_is_named() -> None:
    assert FOREIGN.search("错误: 上下文过长。")
    assert classify("上下文过长") == "overflow"
