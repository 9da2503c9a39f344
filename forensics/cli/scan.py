"""The command that does the main job."""

from forensics.cli import _common, _options
from forensics.cli._common import Color, Paths, Quiet, Strict, Verbose


def scan(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    format_: _options.Format = None,
    output: _options.Outputs = None,
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    min_severity: _options.MinSeverity = None,
    since: _options.Since = None,
    until: _options.Until = None,
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
) -> None:
    """Find what went wrong in sessions and logs: where, when, how bad.

    Exit codes: 0 ran, 1 findings at or above --fail-on, 2 wrong usage or internal error, 3 nothing was recognised,
    4 incomplete and --strict, 130 interrupted.
    """
    asked = _options.asked_of(
        {
            "format_": format_, "select": select, "ignore": ignore, "min_severity": min_severity, "since": since,
            "until": until, "cap": cap, "fail_on": fail_on, "baseline": baseline, "exit_zero": exit_zero,
            "strict": strict, "now": now, "redact": redact, "jobs": jobs, "quiet": quiet, "verbose": verbose,
            "color": color,
        },
        set_,
    )  # fmt: skip
    from forensics.cli import _scanning  # noqa: PLC0415  (not needed for --help)
    from forensics.cli._accepted import marks, own_files  # noqa: PLC0415
    from forensics.summary import summarise  # noqa: PLC0415

    outputs = _scanning.outputs_of(output or (), format_)
    found = _scanning.gather(paths, asked, *own_files(asked, outputs))
    terms = _scanning.terms_of(asked)
    mark = marks(asked, found.options, paths)
    report = summarise(found.results, found.skipped, terms, found.options.detectors or (), mark)
    _scanning.publish(report, asked, outputs)
    _common.finish(report.summary.result.exit_code)
