from forensics.events import Event
from forensics.timeline import Session


def test_a_summarys_own_usage_is_part_of_the_sessions_totals() -> None:
    session = Session("s", "demo", "file")
    session.add(Event(kind="reply", stop="done", input=100, cached=5, output=10, cost=0.5))
    session.add(Event(kind="compacted", outcome="summary", input=40, output=4, cost=0.25))
    assert (session.input_tokens, session.cached_tokens, session.output_tokens) == (140, 5, 14)
    assert session.cost == 0.75
    assert (session.replies, len(session.samples)) == (1, 0)


def test_a_turns_usage_on_a_row_of_its_own_is_part_of_the_totals_and_no_requests_size() -> None:
    session = Session("s", "demo", "file")
    session.add(Event(kind="note", input=100, output=10))
    assert (session.input_tokens, session.cached_tokens, session.output_tokens) == (100, None, 10)
    assert (session.replies, len(session.samples)) == (0, 0)


def test_a_cut_reply_whose_calls_ran_names_the_tool() -> None:
    """pi runs the calls of a reply that was cut at the output limit, and sends their results."""
    session = Session("s", "demo", "file")
    rows = [
        Event(kind="reply", stop="length"),
        Event(kind="tool", tool="read"),
        Event(kind="tool", tool="exec"),
        Event(kind="reply", stop="length"),
        Event(kind="prompt", origin="human"),
        Event(kind="tool", tool="read"),
    ]
    for row in rows:
        session.add(row)
    session.close()
    assert [event.tool for event in session.events if event.kind == "reply"] == ["read", None]


def test_the_cost_does_not_depend_on_how_the_replies_were_grouped() -> None:
    """A cent's tenth, ten times, was 0.9999999999999999 in one group and 1.0 in others."""
    together, apart = Session("s", "demo", "file"), Session("s", "demo", "file")
    for _ in range(10):
        together.add(Event(kind="reply", stop="done", context=1, cost=0.1))
        apart.add(Event(kind="reply", stop="done", context=1, cost=0.1))
        apart.add(Event(kind="compacted", outcome="summary"))
    together.close()
    apart.close()
    assert together.cost == apart.cost == 1.0
