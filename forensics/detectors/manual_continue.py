"""The manual-continue detector."""

from collections.abc import Iterator

from forensics.detect import Claim, Measure, detector
from forensics.detectors._messages import Message, judge
from forensics.failures import Break, breaks
from forensics.timeline import Session


@detector("error", per="session")
def manual_continue(session: Session) -> Iterator[Claim]:
    """Find every message a person had to type to get work going again that the agent had let break off.

    Why it is bad: nobody was told and nothing went on until the person looked; the waiting time is lost, and an
    unattended run simply ends there.

    How it decides. The structure comes first: a reply failed, was cut at the output limit, came empty or was
    filtered, or a compaction in mid-work was followed by no reply; nothing automatic took over; the next thing is a
    prompt of a person. Rows between (a retry that ended, a queue mark, a model change, a heartbeat) do not hide it.
    Then the message must bring no new work: a word of continuing in any of some forty languages or the last message
    again (confidence high), a nudge such as "hello?" (medium), a single other word or a few words that begin with one
    of continuing (low; none that go on to say what else to do: "continue and add tests"). Where a compaction worked
    after an overflow, after a refused output budget or in mid-work, and the agent fell idle all the same, whatever
    the person writes counts (medium; low from 80 characters on), unless it came within 5 s of the compaction: agents
    compact before they record a prompt, or send it again.
    A compaction that the person ordered lowers the confidence by one.
    Each message is one finding; the agent may have broken off again after it (`resumed`).

    It stays quiet when the reply ended well, when the person aborted it or the compaction after it, when the message
    gives new instructions, says that it is over ("ok thanks"; "done?" asks), was written by a program, replays an
    earlier one, or was sent before the failure, while a compaction still runs, and when a file does not keep what the
    message said.

    What to do: let the agent continue by itself after this class of failure, a bounded number of times, and say aloud
    when it gives up (bastani-inc/atomic#1690).

    Measures: `waiting_seconds` between the break and the message; `class`, the fault of the failed reply or how it
    ended (length, empty, filtered, idle); `compacted`, yes when a compaction cut the context down in between;
    `resumed`, whether a good reply followed (null where the session ends with the message); `streak`, which message
    in a row this is; `chain`, how many messages in a row it took.
    """
    chain: list[tuple[Break, Message]] = []
    for one in breaks(session):
        if chain and not _carries_on(chain[-1][0], one):
            yield from _claims(chain)
            chain = []
        message = judge(one)
        if message is None:
            yield from _claims(chain)
            chain = []
        else:
            chain.append((one, message))
    yield from _claims(chain)


def _carries_on(before: Break, one: Break) -> bool:
    """Say whether the message before got no good reply, so that this break belongs to its chain."""
    return not before.resumed and before.prompt is not None and one.asked[-1] is before.prompt


def _claims(chain: list[tuple[Break, Message]]) -> Iterator[Claim]:
    for number, (one, message) in enumerate(chain, 1):
        if one.prompt is None:
            continue
        rows = (*one.compactions, one.row, one.prompt, *((one.answer,) if one.answer is not None else ()))
        yield Claim(
            message=_sentence(one, message, number, len(chain)),
            evidence=tuple(sorted(rows, key=lambda row: row.seq)),
            confidence=message.confidence,
            key=one.row.record,
            measures={
                "waiting_seconds": Measure(one.waited, "derived"),
                "class": Measure(one.cause, "observed"),
                "compacted": Measure("yes" if one.compacted else "no", "observed"),
                "resumed": Measure(None if one.answer is None else "yes" if one.resumed else "no", "observed"),
                "streak": Measure(number, "derived"),
                "chain": Measure(len(chain), "derived"),
            },
        )


def _sentence(one: Break, message: Message, number: int, chain: int) -> str:
    broke = {
        "error": f"a reply failed ({one.cause})",
        "length": "a reply was cut at the output limit",
        "empty": "a reply came empty",
        "filtered": "a reply was filtered",
        "idle": "no reply came after a compaction in mid-work",
    }[one.kind]
    compacted = ", the session compacted" if one.compacted and one.kind != "idle" else ""
    waited = "" if one.waited is None else f" after {one.waited:,.0f} s"
    outcome = (
        "and the work went on" if one.resumed else "and it broke off again" if one.answer else "and no reply followed"
    )
    which = f" ({number} of {chain} in a row)" if chain > 1 else ""
    return f"{broke}{compacted}, and nothing went on until a person wrote{waited}{which}: {message.why}, {outcome}"
