"""The command for continuous integration: fail when recovery got worse."""

from typing import Annotated

import typer

from forensics.cli import _common, _options
from forensics.cli._common import Color, Paths, Quiet, Strict, Verbose


def check(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    format_: _options.Format = None,
    output: _options.Outputs = None,
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    min_severity: _options.MinSeverity = None,
    cap: _options.Cap = None,
    set_: _options.Set = None,
    fail_on: _options.FailsOn = None,
    baseline: _options.BaselineFile = None,
    exit_zero: _options.ExitZero = None,
    strict: Strict = None,
    now: _options.Now = None,
    redact: _options.Redact = None,
    jobs: _options.Jobs = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Test the locks too: perturb each recording, and see what they notice.")
    ] = False,
) -> None:
    """Fail when recovery got worse than what is accepted: in the baseline, in the locks, in the expectations.

    Fails on findings at or above --fail-on (default: error) that neither the baseline (.forensics-baseline.json of
    the present folder, or --baseline) nor a suppression accepts; on measures that got worse; on recordings that
    depart from the lock beside them (forensics lock), unless for the better; on expectations of the configuration
    ([tool.forensics.expect]) that do not hold or cannot be judged.

    On the screen, what is known is counted (-v: shown), what is new or worse is shown; with -q only what fails.

    Exit codes: 0 nothing got worse, 1 something did, 2 wrong usage or internal error, 3 nothing was recognised,
    4 incomplete and --strict, 130 interrupted.
    """
    asked = {"fail-on": "error"} | _options.asked_of(
        {
            "format_": format_, "select": select, "ignore": ignore, "min_severity": min_severity, "cap": cap,
            "fail_on": fail_on, "baseline": baseline, "exit_zero": exit_zero, "strict": strict, "now": now,
            "redact": redact, "jobs": jobs, "quiet": quiet, "verbose": verbose, "color": color,
        },
        set_,
    )  # fmt: skip
    from forensics.check import checked  # noqa: PLC0415
    from forensics.checking import expect  # noqa: PLC0415  (not needed for --help)
    from forensics.checking.marks import rules_for  # noqa: PLC0415
    from forensics.cli import _scanning  # noqa: PLC0415
    from forensics.cli._accepted import own_files  # noqa: PLC0415

    outputs = _scanning.outputs_of(output or (), format_)
    expected = expect.of_settings(asked)
    found = _scanning.gather(paths, asked, *own_files(asked, outputs), repeatable=True)
    rules = rules_for(asked, found.options, paths, check=True)
    terms = _scanning.terms_of(asked)
    report = checked(
        found.files, found.results, found.skipped, found.options,
        terms=terms, rules=rules, expected=expected, mutate=mutate,
    )  # fmt: skip
    _scanning.publish(report, asked, outputs, terms.fail_on if quiet else None)
    _common.finish(report.summary.result.exit_code)
