"""What a run is asked for: command line over environment over configuration file over defaults."""

import difflib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from forensics.detect import SEVERITIES, Detector, Within
from forensics.summary import FailOn
from forensics.times import instant, iso

PREFIX = "FORENSICS_"
LARGEST = (1 << 53) - 1
"""The largest whole number that every reader of JSON takes for itself."""
ALIKE = 0.6
"""How alike (a ratio of `difflib`) a known name must be to be taken for the one that was meant."""


class UsageError(Exception):
    """What the user asked for cannot be done. The message says what, where, and what to do, in one line."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Name what the user may have meant."""
    options = sorted(known)
    close = difflib.get_close_matches(name, options, n=1, cutoff=ALIKE)
    if close:
        return f"did you mean {close[0]}?"
    return f"there are {', '.join(options)}" if options else "there are none"


Settings = dict[str, Any]
"""Settings by name (`min-severity`), only those that were given; `set` holds detector to option to value.

`suppress` and `expect` are for some commands only: where it stands, and what stands there as it was read.
"""


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"1", "true", "yes", "on"}:
        return True
    if isinstance(value, str) and value.lower() in {"0", "false", "no", "off"}:
        return False
    raise ValueError("give true or false")


def _natural(value: Any) -> int:
    text = value.replace("_", "") if isinstance(value, str) else ""
    number = int(text) if text.isdecimal() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= LARGEST:
        raise ValueError("give a whole number from 1")
    return number


def _names(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(one, str) for one in parts):
        raise ValueError("give a list of names")
    return tuple(one.strip() for one in parts if one.strip())


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("give a file's name")
    return value


def _choice(*choices: str) -> Callable[[Any], str]:
    def chosen(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"give one of {', '.join(choices)}")
        return str(value)

    return chosen


def _format(value: Any) -> str:
    from forensics.reports import formats  # noqa: PLC0415  (the list is only needed where a format is named)

    return _choice(*formats())(value)


def _models(value: Any) -> dict[str, dict[str, int]]:
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise ValueError('give a table of tables, such as [tool.forensics.models."name"] with cap = 200_000')
    unknown = sorted({name for one in value.values() for name in one} - {"cap", "max-output", "reserve"})
    if unknown:
        raise ValueError(f"give cap, max-output or reserve, not {unknown[0]}")
    return {
        model: {name.replace("-", "_"): _natural(size) for name, size in one.items()} for model, one in value.items()
    }


KEYS: dict[str, Callable[[Any], Any]] = {
    "baseline": _path,
    "cap": _natural,
    "color": _choice("auto", "always", "never"),
    "exit-zero": _boolean,
    "fail-on": _choice(*get_args(FailOn)),
    "format": _format,
    "ignore": _names,
    "jobs": _natural,
    "min-severity": _choice(*SEVERITIES),
    "models": _models,
    "now": instant,
    "quiet": _boolean,
    "redact": _boolean,
    "select": _names,
    "since": instant,
    "strict": _boolean,
    "until": lambda value: instant(value, end=True),
    "verbose": _boolean,
}
"""The settings that a configuration file and the environment may hold, with how each is read."""


def from_file(start: Path, detectors: Callable[[], Mapping[str, Detector]]) -> Settings:
    """Read `forensics.toml` or `[tool.forensics]` of `pyproject.toml`, the nearest at or above `start`.

    Raises `UsageError`.
    """
    for folder in (start, *start.parents):
        own, project = folder / "forensics.toml", folder / "pyproject.toml"
        if own.is_file():
            return _checked(_toml(own), own, detectors)
        if project.is_file():
            tool = _toml(project).get("tool", {})
            if not isinstance(tool, dict):
                raise UsageError(f"{project}: tool is not a table; write [tool.forensics]")
            if (table := tool.get("forensics")) is not None:
                return _checked(table, project, detectors)
    return {}


def _toml(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  (2 ms of every start)

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; make it readable or remove it") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}; correct it") from error


def _checked(table: Any, path: Path, detectors: Callable[[], Mapping[str, Detector]]) -> Settings:
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.forensics is not a table; write [tool.forensics]")
    found: Settings = {}
    for key, value in table.items():
        place = f"{path}: {key}"
        if key == "ignore":
            found |= _ignored(value, place)
        elif key == "expect":
            found[key] = (place, value)
        elif key in KEYS:
            found[key] = read_key(key, value, place)
        elif isinstance(value, dict) and key in detectors():
            options = found.setdefault("set", {}).setdefault(key, {})
            for name, inner in value.items():
                options[name] = option(detectors()[key], name, inner, f"{place}.{name}")
        else:
            known = {*KEYS, "expect", *(detectors() if isinstance(value, dict) else ())}
            raise UsageError(f"{path}: unknown key {key!r}; {nearest(key, known)}")
    if "baseline" in found:
        found["baseline"] = str(path.parent / found["baseline"])
    return found


def _ignored(value: Any, place: str) -> Settings:
    """Tell names of detectors not to run from suppressions: tables in a list, or by detector in a table."""
    if isinstance(value, dict):
        tables = [
            {"detector": name, **one} if isinstance(one, dict) else one
            for name, inner in value.items()
            for one in (inner if isinstance(inner, list) else [inner])
        ]
        return {"suppress": (place, tables)}
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    rules = [one for one in parts if not isinstance(one, str)]
    found: Settings = {"suppress": (place, rules)} if rules else {}
    names = [one for one in parts if isinstance(one, str)]
    return found | ({"ignore": read_key("ignore", ",".join(names), place)} if names else {})


def from_environment(environment: Mapping[str, str], detectors: Callable[[], Mapping[str, Detector]]) -> Settings:
    """Read `FORENSICS_FAIL_ON` and its like; an empty variable counts as absent. Raises `UsageError`."""
    found: Settings = {}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or not environment[name]:
            continue
        key = name.removeprefix(PREFIX).lower().replace("_", "-")
        if key == "set":
            found["set"] = assignments(environment[name].split(","), detectors(), name)
        elif key in KEYS:
            found[key] = read_key(key, environment[name], name)
        else:
            variables = [PREFIX + one.upper().replace("-", "_") for one in ("set", *KEYS)]
            raise UsageError(f"{name}: unknown environment variable; {nearest(name, variables)}")
    return found


def read_key(key: str, value: Any, place: str) -> Any:
    """Read a setting's value as found at `place`. Raises `UsageError`."""
    try:
        return KEYS[key](value)
    except (TypeError, ValueError, OverflowError) as error:
        words = str(error) if "give" in str(error) else f"give another value ({error})"
        raise UsageError(f"{place}: {value!r} does not fit; {words}") from error


def assignments(given: Iterable[str], detectors: Mapping[str, Detector], place: str) -> dict[str, dict[str, Any]]:
    """Read `detector.option=value` words, each value by the type of the option's default. Raises `UsageError`."""
    found: dict[str, dict[str, Any]] = {}
    for one in given:
        target, equals, value = one.strip().partition("=")
        detector, dot, name = target.partition(".")
        if not (equals and dot and name):
            raise UsageError(f"{place}: {one!r} is not detector.option=value; for example no-summary.rate=0.3")
        if detector not in detectors:
            raise UsageError(f"{place}: unknown detector {detector!r}; {nearest(detector, detectors)}")
        found.setdefault(detector, {})[name] = option(detectors[detector], name, value, f"{place}: {target}")
    return found


def option(detector: Detector, name: str, value: Any, place: str) -> Any:
    """Read a detector's option by the type of its default. Raises `UsageError`."""
    if name not in detector.options:
        raise UsageError(f"{place}: {detector.name} has no option {name!r}; {nearest(name, detector.options)}")
    try:
        found = _typed(value, detector.options[name])
        _check(found, getattr(detector, "ranges", {}).get(name, Within()))  # policies have none
    except ValueError as error:
        raise UsageError(f"{place}: {value!r} does not fit; {error}") from error

    return found


def _check(value: Any, within: Within) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and not within.least <= value <= min(within.most, LARGEST):
        raise ValueError(f"give {'a whole number' if isinstance(value, int) else 'a number'} {within}")


def _typed(value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        return _boolean(value)
    if isinstance(default, int):
        return _number(value, int, "a whole number")
    if isinstance(default, float):
        return _number(value, float, "a number")
    if isinstance(default, (tuple, frozenset, list)):
        return type(default)(_names(value))
    if isinstance(default, str):
        return str(value)
    return json.loads(value) if isinstance(value, str) and value[:1] in "-0123456789tfn" else value


def _number(value: Any, kind: type[int] | type[float], words: str) -> int | float:
    fits = isinstance(value, (str, int, kind)) and not isinstance(value, bool)
    try:
        number = kind(value) if fits else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not -LARGEST <= number <= LARGEST:
        raise ValueError(f"give {words}")
    return number


def settings(given: Settings, start: Path, detectors: Callable[[], Mapping[str, Detector]]) -> Settings:
    """Put the settings together: `given` (the command line) wins over the environment, that over the file.

    `set` is merged option by option. Raises `UsageError`.
    """
    layers = [from_file(start, detectors), from_environment(os.environ, detectors), given]
    result: Settings = {}
    options: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for detector, values in layer.get("set", {}).items():
            options.setdefault(detector, {}).update(values)
        result.update(layer)
    result["set"] = options
    since, until = result.get("since"), result.get("until")
    if since is not None and until is not None and since > until:
        raise UsageError(f"--since: {iso(since)} is later than --until: {iso(until)}; give an earlier time")
    return result


def chosen(select: Iterable[str] | None, ignore: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Give the detectors to run, sorted. Raises `UsageError` on a name that is none."""
    names = set(known)
    for option_name, given in (("--select", select), ("--ignore", ignore)):
        for name in given or ():
            if name not in names:
                raise UsageError(f"{option_name}: unknown detector {name!r}; {nearest(name, names)}")
    return sorted((set(select) if select else names) - set(ignore or ()))
