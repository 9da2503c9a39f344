"""The command that proves what a recovery policy can and cannot do."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from forensics import safe
from forensics.cli import _common
from forensics.cli._common import Quiet
from forensics.cli._fit import fit
from forensics.config import UsageError, nearest, option

_FORMATS = ("text", "json", "markdown")
_FEW = 2
"""As many policies are told with their scenarios."""


def prove(  # noqa: PLR0917  (the options of the command)
    policies: Annotated[
        list[str] | None,
        typer.Argument(metavar="POLICY", help="Names from `forensics list policies`, or a .py file; default: all."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="POLICY.OPTION=VALUE", help="An option of a policy (repeatable)."),
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", metavar="NAME", help="What the environment will not do (repeatable); `help` lists."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="PROPERTY[:FAULT]",
            help="Exit 1 when it is lost; commas or repeated, e.g. bounded,loud.",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="text, json or markdown.")] = "text",
    witness: Annotated[
        Path | None,
        typer.Option(
            "--witness", metavar="FILE", help="Write the first lost property (of --require's) as a transcript."
        ),
    ] = None,
    max_states: Annotated[
        int, typer.Option("--max-states", metavar="N", min=1, help="Refuse a policy with more states.")
    ] = 2_000_000,
    verify: Annotated[
        Path | None, typer.Option("--verify", metavar="CERT", help="Check a certificate that --format json wrote.")
    ] = None,
    quiet: Quiet = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Every property, with the scenario in which it is lost.")
    ] = False,
) -> None:
    """Prove recovery policies by walking every state they can reach: what is bounded, paced, loud, and what is not.

    Of one or two policies it tells the scenario in which a property is lost, of more the reason alone (-v: the
    scenarios too). With --require only the properties that are asked for are shown (-v: all, those first).
    """
    if verify is not None:
        _common.finish(_verified(verify, quiet=quiet))
    if "help" in (assume or ()):
        _assumptions()
    if format_ not in _FORMATS:
        raise UsageError(f"--format: {format_!r} does not fit; {nearest(format_, _FORMATS)}")
    if witness is not None:
        _apart(witness, policies or ())
    asked = list(_required(require or ()))
    proofs = _proved(policies, set_ or (), assume or (), max_states)
    text = _shown(proofs, format_, asked, verbose=verbose)
    _common.write(fit(text, _common.narrow(sys.stdout)) if format_ == "text" else text)
    lost = [one for one in _judged(proofs, asked) if not one[2].holds]
    if witness is not None:
        _export(witness, lost or [one for one in _judged(proofs, []) if not one[2].holds])
    if asked and not quiet:
        words = ", ".join(f"{name} loses {wanted}" for name, wanted, _ in lost) or "every required property holds"
        _common.complain(f"{words} (exit {int(bool(lost))})", "result")
    _common.finish(int(bool(asked and lost)))


def _apart(witness: Path, policies: Iterable[str]) -> None:
    from forensics.inputs import WouldOverwrite, same_file  # noqa: PLC0415  (not needed for --help)

    if any(one.endswith(".py") and same_file(witness, Path(one)) for one in policies):
        raise UsageError(f"--witness: {WouldOverwrite(witness)}")


def _assumptions() -> None:
    from forensics.proof.environment import ASSUMPTIONS  # noqa: PLC0415  (not needed for --help)

    width = max(map(len, ASSUMPTIONS))
    text = "".join(f"{name.ljust(width)}  {meaning}\n" for name, meaning in ASSUMPTIONS.items())
    _common.write(fit(text, _common.narrow(sys.stdout), headed=False))
    _common.finish(0)


def _proved(names: list[str] | None, given: Iterable[str], assume: Iterable[str], max_states: int) -> list[Any]:
    from forensics.checking.named import there  # noqa: PLC0415  (not needed for --help)
    from forensics.proof.walk import TooManyStatesError  # noqa: PLC0415
    from forensics.prove import AssumptionError, prove  # noqa: PLC0415  (not needed for --help)
    from forensics.replay import PolicyError, find, policies  # noqa: PLC0415

    try:
        there(names or ())
        chosen = [find(name) for name in names] if names else list(policies().values())
        options = _options({one.name: one for one in chosen}, given)
        return [prove(one, options.get(one.name), assume, max_states=max_states) for one in chosen]
    except (AssumptionError, PolicyError, TooManyStatesError) as error:
        raise UsageError(f"prove: {error}") from error


def _options(chosen: dict[str, Any], given: Iterable[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for one in given:
        target, equals, value = one.strip().partition("=")
        policy, dot, name = target.partition(".")
        if not (equals and dot and name):
            raise UsageError(f"--set: {one!r} is not policy.option=value; for example opencode-37584.limit=5")
        if policy not in chosen:
            raise UsageError(f"--set: {policy!r} is not among the policies to prove; {nearest(policy, chosen)}")
        found.setdefault(policy, {})[name] = option(chosen[policy], name, value, f"--set: {target}")
    return found


def _required(words: Iterable[str]) -> Iterable[tuple[str, str | None]]:
    from forensics.proof.environment import CLASSES  # noqa: PLC0415  (not needed for --help)
    from forensics.proof.properties import PROPERTIES  # noqa: PLC0415

    for word in (part.strip() for one in words for part in one.split(",") if part.strip()):
        name, _, kind = word.partition(":")
        if name not in PROPERTIES:
            raise UsageError(f"--require: there is no property {name!r}; {nearest(name, PROPERTIES)}")
        if kind and kind not in CLASSES:
            raise UsageError(f"--require: there is no class of failure {kind!r}; {nearest(kind, CLASSES)}")
        yield name, kind or None


def _judged(proofs: Iterable[Any], asked: list[tuple[str, str | None]]) -> Iterable[tuple[str, str, Any]]:
    """Give policy, property and verdict of each that is asked for; of every property where none is."""
    for proof in proofs:
        for name, kind in asked or [(name, None) for name in proof.verdicts]:
            judged = proof.verdicts[name]
            wanted = f"{name}:{kind}" if kind else name
            yield proof.policy.name, wanted, judged.by_fault[kind] if kind else judged.overall


def _shown(proofs: list[Any], format_: str, asked: list[Any], *, verbose: bool) -> str:
    from forensics.proof.explanation import explain  # noqa: PLC0415  (not needed for --help)
    from forensics.proof.proof_text import reasons, table, to_brief, to_text  # noqa: PLC0415
    from forensics.prove import to_json  # noqa: PLC0415

    if format_ == "json":
        return safe.json(json.dumps(to_json(proofs), indent=2, ensure_ascii=False)) + "\n"
    if format_ == "markdown":
        return f"{table(proofs)}\n{reasons(proofs)}"
    wanted = list(dict.fromkeys(asked)) or None
    if not verbose and len(proofs) > _FEW:
        return to_brief(proofs, wanted)
    if verbose and wanted:
        wanted += [(name, None) for name in proofs[0].verdicts if name not in dict(wanted)]
    return to_text(proofs, {proof.policy.name: explain(proof) for proof in proofs}, wanted)


def _export(path: Path, lost: list[tuple[str, str, Any]]) -> None:
    from forensics.proof.witness import to_lines, witness_events  # noqa: PLC0415  (not needed for --help)
    from forensics.saving import save  # noqa: PLC0415  (not needed for --help)

    if not lost:
        raise UsageError("--witness: no property is lost, so there is nothing to show; ask for another policy")
    name, wanted, verdict = lost[0]
    try:
        save(path, to_lines(witness_events(verdict.witness, agent=name)))
    except OSError as error:
        raise UsageError(f"--witness: {path}: cannot be written: {error.strerror}; choose another place") from error
    _common.complain(f"{path}: {name} loses {wanted}: {verdict.reason}", "witness")


def _verified(path: Path, *, quiet: bool) -> int:
    from forensics.proof.certificate import verify  # noqa: PLC0415  (not needed for --help)
    from forensics.proof.document import NotACertificateError  # noqa: PLC0415

    try:
        document = json.loads(path.read_bytes())
        problems = verify(document)
    except OSError as error:
        raise UsageError(f"--verify: {path}: {error.strerror}; give a file that --format json wrote") from error
    except NotACertificateError as error:
        raise UsageError(f"--verify: {path}: not a certificate: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--verify: {path}: not a certificate: not JSON: {error}") from error
    _common.write("".join(f"{problem}\n" for problem in problems))
    if not quiet:
        policies, broken = len(document["policies"]), len(problems)
        held = f"{policies} {'policy' if policies == 1 else 'policies'} checked, every claim holds"
        failed = f"{broken} {'claim does' if broken == 1 else 'claims do'} not hold"
        _common.complain(failed if problems else held, "result")
    return int(bool(problems))
