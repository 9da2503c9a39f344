"""Where work breaks off, and where it only looks like it."""

from hypothesis import given
from hypothesis import strategies as st

from forensics.events import Event, Outcome
from forensics.failures import Failure, breaks, failures, follower, written
from forensics.timeline import Session


def _session(*events: Event) -> Session:
    session = Session("s", "demo", "file")
    for line, event in enumerate(events, 1):
        event.line = line
        session.add(event)
    session.close()
    return session


def _ask(text: str = "Rename.", ts: int | None = None, sent: int | None = None) -> Event:
    return Event(kind="prompt", origin="human", text=text, ts=ts, sent=sent)


def _error(ts: int | None = None) -> Event:
    return Event(kind="reply", stop="error", fault="overflow", ts=ts)


def _good() -> Event:
    return Event(kind="reply", stop="done")


def _compacted(outcome: Outcome = "summary") -> Event:
    return Event(kind="compacted", outcome=outcome, trigger="threshold")


def _followers(found: list[Failure]) -> list[str]:
    return [one.followed for one in found]


def test_a_good_session_has_neither() -> None:
    session = _session(_ask(), _good(), _compacted(), _ask(), _good())
    assert (failures(session), breaks(session)) == ([], [])


def test_who_took_up_after_a_failure() -> None:
    session = _session(
        _ask(),
        _error(),
        _error(),
        Event(kind="prompt", origin="synthetic"),
        _error(),
        _ask(),
        _error(),
        Event(kind="prompt", origin="unknown"),
        _error(),
    )
    assert _followers(failures(session)) == ["agent", "agent", "person", "unknown", "nothing"]
    assert follower(session, 4) == "person"


def test_only_the_last_reply_before_the_person_counts() -> None:
    session = _session(_ask(), _error(), Event(kind="retry"), _good(), _ask("continue"), _good())
    assert breaks(session) == []


def test_a_break_at_the_end_has_no_prompt() -> None:
    (one,) = breaks(_session(_ask(), _error()))
    assert (one.kind, one.prompt, one.answer, one.waited, one.resumed) == ("error", None, None, None, False)


def test_the_compaction_before_the_failure_is_named_and_cuts_nothing_after_it() -> None:
    (one,) = breaks(_session(_ask(), Event(kind="reply", stop="tool"), _compacted(), _error(), _ask("continue")))
    assert [row.line for row in one.compactions] == [3]
    assert one.compacted is False


def test_of_several_compactions_after_a_failure_the_last_is_named() -> None:
    session = _session(_ask(), _error(), _compacted("failed"), _compacted("failed"), _compacted(), _ask("continue"))
    (one,) = breaks(session)
    assert [row.line for row in one.compactions] == [5]
    assert one.compacted is True


def test_idle_needs_work_that_was_not_finished() -> None:
    tool = Event(kind="reply", stop="tool")
    (one,) = breaks(_session(_ask(), tool, _compacted(), _ask("and?"), _good()))
    assert (one.kind, one.row.line, one.cause, one.resumed) == ("idle", 3, "idle", True)


def test_idle_before_the_first_reply_to_a_prompt() -> None:
    (one,) = breaks(_session(_ask(), _compacted("no-summary"), _ask("continue"), _good()))
    assert (one.kind, one.row.line, one.compacted) == ("idle", 2, False)


def test_a_compaction_just_before_a_prompt_is_that_prompts_own_and_nobody_had_to_write() -> None:
    """A report once told of four places where a person had to write, beside a single manual continue."""
    tool = Event(kind="reply", stop="tool", ts=1_000)

    def later(ms: int) -> Session:
        compacted = Event(kind="compacted", outcome="summary", trigger="threshold", ts=60_000)
        return _session(_ask(ts=0), tool, compacted, _ask("and?", ts=60_000 + ms), _good())

    assert [len(breaks(later(ms))) for ms in (700, 4_999, 5_000)] == [1, 1, 1]
    assert [len(written(later(ms))) for ms in (700, 4_999, 5_000)] == [0, 0, 1]
    failed = _session(_ask(ts=0), _error(ts=1_000), _compacted(), _ask("continue", ts=2_000), _good())
    assert [prompt.text for prompt in written(failed)] == ["continue"]


def test_a_compaction_that_never_ended_is_not_idleness() -> None:
    session = _session(_ask(), Event(kind="reply", stop="tool"), Event(kind="compact"), _ask("continue"), _good())
    assert breaks(session) == []


def test_a_failure_before_a_compaction_that_died_is_still_a_failure() -> None:
    (one,) = breaks(_session(_ask(), _error(), Event(kind="compact"), _ask("continue"), _good()))
    assert (one.kind, one.row.line) == ("error", 2)


def test_prompts_sent_together_share_the_reply() -> None:
    session = _session(_ask(), _error(ts=0), _ask("continue", ts=1000), _ask("please", ts=2000), _good())
    (one,) = breaks(session)
    assert one.answer is not None
    assert one.answer.line == 5


def test_a_reply_to_a_later_prompt_is_not_the_answer() -> None:
    session = _session(_ask(), _error(ts=0), _ask("continue", ts=1000), _ask("Sort.", ts=90_000_000), _good())
    (one,) = breaks(session)
    assert one.answer is None


def test_work_of_a_timer_is_not_the_persons() -> None:
    timer = Event(kind="prompt", origin="synthetic", text="Check the build.")
    assert breaks(_session(_ask(), _good(), timer, _error(), _ask("continue"), _good())) == []


def test_an_automatic_continuation_is_part_of_the_persons_work() -> None:
    carry_on = Event(kind="prompt", origin="synthetic", text="Continue if you have next steps.")
    (one,) = breaks(_session(_ask(), _good(), _compacted(), carry_on, _error(), _ask("continue"), _good()))
    assert one.row.line == 5


def test_what_was_asked_since_work_last_ended_well() -> None:
    session = _session(_ask("One."), _good(), _ask("Two."), _error(), _ask("again"), _error(), _ask("again"), _good())
    assert [[row.text for row in one.asked] for one in breaks(session)] == [["Two."], ["Two.", "again"]]


def test_what_was_asked_stays_as_it_was_at_each_break() -> None:
    session = _session(_ask("One."), _error(), _ask("again"), _error(), _ask("Two."), _error())
    first, second, third = (one.asked for one in breaks(session))
    assert [len(one) for one in (first, second, third)] == [1, 2, 3]
    assert (first[-1].text, second[-1].text, [row.text for row in third[1:]]) == ("One.", "again", ["again", "Two."])
    assert [one.holds(_ask("again")) for one in (first, second, third)] == [False, True, True]


_CONTENTS = st.builds(
    lambda text, size, digest: Event(kind="prompt", origin="human", text=text, size=size, digest=digest),
    st.sampled_from([None, "", " ", "a", "b"]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, "x", "y"]),
)


@given(st.lists(_CONTENTS, min_size=1, max_size=6), _CONTENTS)
def test_the_same_message_is_found_as_by_looking_at_each(asked: list[Event], prompt: Event) -> None:
    def like(earlier: Event) -> bool:
        if prompt.digest is not None and earlier.digest is not None:
            return prompt.digest == earlier.digest
        if not (prompt.text or "").strip() or prompt.size != earlier.size:
            return False
        return prompt.text == earlier.text

    rows = [row for one in asked for row in (one, _error())]
    *_, last = breaks(_session(*rows))
    assert last.asked.holds(prompt) == any(like(earlier) for earlier in asked)


def test_a_cancelled_request_is_the_persons_abort() -> None:
    cancelled = Event(kind="reply", stop="error", fault="cancelled")
    assert breaks(_session(_ask(), cancelled, _ask("continue"), _good())) == []


def test_a_memory_flush_hides_neither_the_failure_nor_the_compaction_after_it() -> None:
    flush = Event(kind="prompt", origin="synthetic", text="Pre-compaction memory flush. Store what matters.")
    (one,) = breaks(_session(_ask(), _error(), flush, _good(), _compacted(), _ask("continue"), _good()))
    assert (one.kind, one.row.line, one.compacted) == ("error", 2, True)


def test_a_prompt_of_unknown_origin_leaves_nothing_to_judge() -> None:
    unknown = Event(kind="prompt", origin="unknown")
    assert breaks(_session(_ask(), _error(), _compacted(), unknown)) == []


def test_an_end_is_announced_by_the_recovery_and_not_by_the_provider() -> None:
    provider = Event(kind="compacted", outcome="failed", error="prompt is too long: 9 tokens > 8 maximum")
    agent = Event(kind="compacted", outcome="failed", error="Session too large to compact")
    said = Event(kind="compacted", outcome="failed", error="no summary", will_retry=False)
    for row, announced in ((provider, False), (agent, True), (said, True)):
        (one,) = breaks(_session(_ask(), _error(), row))
        assert one.announced is announced


_ROWS = st.lists(
    st.one_of(
        st.builds(
            Event,
            kind=st.just("prompt"),
            origin=st.sampled_from(["human", "synthetic", "replay", "queued", "unknown", None]),
            text=st.sampled_from(["continue", "HEARTBEAT", "Sort.", None]),
            ts=st.none() | st.integers(0, 10**13),
            sent=st.none() | st.integers(0, 10**13),
        ),
        st.builds(
            Event,
            kind=st.just("reply"),
            stop=st.sampled_from(["done", "tool", "length", "error", "aborted", "filtered", "empty", None]),
            fault=st.sampled_from(["overflow", "cancelled", None]),
            ts=st.none() | st.integers(0, 10**13),
        ),
        st.builds(
            Event,
            kind=st.sampled_from(["compact", "compacted", "retry", "note", "tool", "budget"]),
            outcome=st.sampled_from(["summary", "failed", "aborted", "skipped", None]),
            will_retry=st.none() | st.booleans(),
            error=st.none() | st.text(max_size=5),
        ),
    ),
    max_size=40,
)


@given(_ROWS)
def test_whatever_the_order_a_break_is_a_failure_and_a_persons_next_prompt(rows: list[Event]) -> None:
    session = _session(*rows)
    found = breaks(session)
    for one in found:
        assert one.kind in {"idle", one.row.stop}
        assert one.prompt is None or (one.prompt.origin == "human" and one.prompt.seq > one.row.seq)
        assert one.answer is None or (one.prompt is not None and one.answer.seq > one.prompt.seq)
        assert one.waited is None or one.waited >= 0
    prompts = [one.prompt.seq for one in found if one.prompt is not None]
    assert len(set(prompts)) == len(prompts)
    assert sum(one.prompt is None for one in found) <= 1
