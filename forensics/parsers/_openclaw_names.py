"""Whose an entry of OpenClaw's log is: sessions by their id, key, run or trace."""

from typing import Any

from forensics.parsers._openclaw_lines import Entry
from forensics.patterns import later
from forensics.sane import figure

_PAIR = later(r"([A-Za-z][\w.]*)=(\"[^\"]*\"|\S+)")
_NO_NAMES = frozenset({"", "unknown", "none", "undefined"})


def fields_of(entry: Entry) -> dict[str, Any]:
    """Give an entry's fields: its structured ones, else the `key=value` pairs of its words."""
    return entry.data or {key: value.strip('"') for key, value in _PAIR.findall(entry.text)}


def count_of(value: Any) -> int | None:
    """Give a count; `unknown`, and whatever else is no whole number, is none."""
    text = str(value)
    return figure(text) if text.isdecimal() else None


class Names:
    """What the log has said so far of which session a run, a session key or a trace belongs to."""

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._traces: dict[str, str] = {}

    def session_of(self, entry: Entry, fields: dict[str, Any]) -> str | None:
        """Name an entry's session: its id, else its key, its run, its trace; a run never placed stands for itself."""
        run, key, name = (_text(fields.get(field)) for field in ("runId", "sessionKey", "sessionId"))
        lane = _text(fields.get("lane"))
        if key is None and lane is not None and lane.startswith("session:"):
            key = lane.removeprefix("session:")
        if name is None and key is not None:
            name = self._keys.get(key, key)
        elif name is not None and key is not None:
            self._keys[key] = name
        if name is None:
            name = self._runs.get(run or "") or self._traces.get(entry.trace or "") or run
        if name is not None:
            if run is not None:
                self._runs.setdefault(run, name)
            if entry.trace is not None:
                self._traces[entry.trace] = name
        return name


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in _NO_NAMES else None


def flag(value: Any) -> bool | None:
    """Give a yes or no in either form of log; `None` for anything else."""
    return {"true": True, "false": False}.get(str(value).lower())
