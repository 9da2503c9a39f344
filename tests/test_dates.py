"""Times that come as numbers and as dates are one column."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from forensics.dates import Times
from forensics.sane import millis

_DATES = st.datetimes(datetime(2015, 1, 2), datetime(2099, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  (hypothesis adds the zone)


def test_nothing_is_in_an_empty_column() -> None:
    assert (len(Times()), list(Times()), Times().multiples(13)) == (0, [], [])


def test_a_date_of_another_zone_is_the_same_moment() -> None:
    times = Times()
    times.take([datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))])
    assert times[0] == 1_782_900_000_000
    assert list(times) == [1_782_900_000_000]


@given(
    parts=st.lists(
        st.one_of(st.lists(_DATES, min_size=1), st.integers(-1, 1 << 42), st.lists(st.integers(-1, 1 << 42)))
    )
)
def test_a_column_is_what_was_put_into_it(parts: list[object]) -> None:
    times = Times()
    known: list[int] = []
    for part in parts:
        if isinstance(part, int):
            times.append(part)
            known.append(part)
        elif isinstance(part, list) and part and isinstance(part[0], datetime):
            times.take(part)
            known += map(millis, part)
        elif isinstance(part, list):
            times.extend(part)
            known += part
    chosen = [(at, time) for at, time in enumerate(known) if time >= 0 and not time % 1000 % 13]
    assert times.multiples(13) == chosen
    assert [times[at] for at in range(len(known))] == known
    assert list(times) == known
    assert times.multiples(13) == chosen
    assert [times[at] for at in range(len(times))] == known
