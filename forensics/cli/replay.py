"""The command that asks of a record what other recovery logic would have done."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from forensics.cli import _common
from forensics.cli._common import Paths, Quiet, Strict
from forensics.cli._fit import fit
from forensics.config import UsageError, nearest, read_key, settings

_FORMATS = ("table", "json")
_SWEPT = "max-output"


def replay(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME",
            help="A policy, or a .py file; default: those of each file's agent, and reference.",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="table or json.")] = "table",
    cap: Annotated[
        str | None, typer.Option("--cap", metavar="TOKENS", help="The context window, where the file does not say it.")
    ] = None,
    max_output: Annotated[
        str | None, typer.Option("--max-output", metavar="TOKENS", help="The model's output cap.")
    ] = None,
    reserve: Annotated[
        str | None, typer.Option("--reserve", metavar="TOKENS", help="What the agent keeps free of the window.")
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep", metavar="max-output=N,N", help="Summaries by output budget, with reasoning and without."
        ),
    ] = None,
    natural: Annotated[
        str | None,
        typer.Option(
            "--natural", metavar="MIN-MAX", help="Tokens that a summary takes without reasoning, if you know."
        ),
    ] = None,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Tell every decision: what was recorded, what each policy would do.")
    ] = False,
    strict: Strict = None,
    quiet: Quiet = False,
) -> None:
    """Replay recovery policies over sessions and logs: which logic ran, and what another would have changed.

    A figure that no record decides is an interval, from pessimistic to optimistic; what the file cannot tell is
    undetermined, and what it does not say is unknown.
    """
    if format_ not in _FORMATS:
        raise UsageError(f"--format: {format_!r} does not fit; {nearest(format_, _FORMATS)}")
    from forensics.detect import detectors  # noqa: PLC0415  (not needed for --help)
    from forensics.replaying.measures import Given  # noqa: PLC0415
    from forensics.replaying.replays import Asked  # noqa: PLC0415

    config = settings({}, Path.cwd(), detectors)
    sizes = {"cap": cap, "max-output": max_output, "reserve": reserve}
    given = Given(*(None if value is None else read_key("cap", value, f"--{name}") for name, value in sizes.items()))
    if given.cap is None and config.get("cap") is not None:
        given = given._replace(cap=config["cap"])
    asked = Asked(
        policies=tuple(one for word in policy for one in word.split(",")) if policy else None,
        given=given,
        models={name: Given(**found) for name, found in config.get("models", {}).items()},
        budgets=_budgets(sweep),
        natural=_natural(natural),
        steps=decisions,
    )
    report, unread = _replayed(paths, asked)
    _common.write(_shown(report, format_))
    strict = bool(strict if strict is not None else config.get("strict"))
    _common.finish(_code(report, unread, strict=strict, quiet=quiet))


def _budgets(word: str | None) -> tuple[int, ...]:
    if word is None:
        return ()
    name, equals, values = word.partition("=")
    if name != _SWEPT or not equals:
        raise UsageError(f"--sweep: {word!r} does not fit; for example max-output=4000,6000,12000,16000,24000")
    return tuple(read_key("cap", value.strip(), "--sweep") for value in values.split(","))


def _natural(word: str | None) -> tuple[int, int] | None:
    if word is None:
        return None
    low, dash, high = word.partition("-")
    if not (low.strip() and dash and high.strip()):
        raise UsageError(f"--natural: {word!r} does not fit; give MIN-MAX, for example 667-1869")
    least = read_key("cap", low.strip(), "--natural")
    most = read_key("cap", high.strip(), "--natural")
    if most < least:
        raise UsageError(f"--natural: {word!r} ends before it begins; for example 667-1869")
    return least, most


def _replayed(paths: list[str], asked: Any) -> tuple[Any, int]:
    """Give the report, and how many inputs could not be read."""
    from forensics.checking.named import there  # noqa: PLC0415  (not needed for --help)
    from forensics.inputs import NoSuchInput, expand  # noqa: PLC0415
    from forensics.replay import PolicyError  # noqa: PLC0415
    from forensics.replaying.replay_report import Skip  # noqa: PLC0415
    from forensics.replaying.replay_sums import document  # noqa: PLC0415
    from forensics.replaying.replays import replay_file  # noqa: PLC0415

    with _common.spool(paths) as folder:
        try:
            there(asked.policies or ())
            found = expand(paths, folder, _common.stdin())
            made = [replay_file(one.path, one.name, asked) for one in found.files]
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        except PolicyError as error:
            raise UsageError(f"--policy: {error}") from error
    skipped = [Skip(path=one.path, reason=one.reason) for one in found.skipped]
    skipped += [one.skipped for one in made if one.skipped is not None]
    return document((session for one in made for session in one.sessions), skipped), len(skipped)


def _shown(report: Any, format_: str) -> str:
    if format_ == "json":
        from forensics.replaying.replay_report import to_json  # noqa: PLC0415  (only for this format)
        from forensics.reports.json import encode  # noqa: PLC0415

        return encode(to_json(report), indent=2) + "\n"
    from forensics.replaying.replay_text import to_text  # noqa: PLC0415  (only for this format)

    return fit(to_text(report), _common.narrow(sys.stdout))


def _code(report: Any, unread: int, *, strict: bool, quiet: bool) -> int:
    """Exit codes: 0 ran, 2 wrong usage, 3 nothing was recognised, 4 incomplete and --strict."""
    if not report.sessions:
        if not quiet:
            _common.complain("nothing was recognised (exit 3)", "result")
        return 3
    if strict and unread:
        if not quiet:
            _common.complain(f"inputs that were not read: {unread} (exit 4)", "result")
        return 4
    return 0
