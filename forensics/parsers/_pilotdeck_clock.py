"""The time stamps of a PilotDeck log: `2026-09-18T02:00:00.014Z`, written when the host got the line."""

from datetime import UTC, datetime

from forensics.patterns import later
from forensics.sane import is_time

_MINUTE = later(rb"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):")


class Clock:
    """Read the host's time stamps: UTC milliseconds, `None` for a time that does not exist."""

    def __init__(self) -> None:
        self.odd = False
        """The minute of the stamp read last is in no recording."""
        self._minute = b""
        self._base: int | None = None

    def read(self, stamp: bytes | None) -> int | None:
        """Give the milliseconds of a stamp. A date is worked out once a minute of the log, not for each line."""
        if stamp is None:
            return None
        minute = stamp[:17]
        if minute != self._minute:
            self._minute = minute
            self._base = _milliseconds(minute)
            self.odd = self._base is not None and not is_time(self._base)
        digits = stamp[17:19] + stamp[20:23]
        base = self._base
        if base is None or not digits.isdigit() or digits >= b"60" or stamp[19:20] != b".":
            return None
        return base + int(digits)


def _milliseconds(minute: bytes) -> int | None:
    found = _MINUTE.fullmatch(minute)
    if found is None:
        return None
    year, month, day, hour, minutes = map(int, found.groups())
    try:
        return int(datetime(year, month, day, hour, minutes, tzinfo=UTC).timestamp()) * 1000
    except ValueError:
        return None
