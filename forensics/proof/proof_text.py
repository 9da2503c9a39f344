"""Proofs for people: the screen, and the table of all verdicts for a README."""

from collections.abc import Iterable, Mapping

from forensics.proof.environment import CLASSES, FaultClass
from forensics.proof.explanation import Explanation
from forensics.proof.terms import Property
from forensics.proof.verdict import Scene, Verdict
from forensics.prove import Proof

_WIDE = 14


def to_text(proofs: Iterable[Proof], explanations: Mapping[str, Explanation] | None = None) -> str:
    """Tell each proof: what holds for which failure, and for what is lost the reason and the scenario."""
    return "\n".join("\n".join(_told(proof, (explanations or {}).get(proof.policy.name, {}))) for proof in proofs)


def _told(proof: Proof, explanation: Explanation) -> Iterable[str]:
    options = ", ".join(f"{name} = {value}" for name, value in proof.options.items())
    yield f"{proof.policy.name}: {proof.states:,} states" + (f" ({options})" if options else "")
    if proof.assumptions:
        yield f"  assumed: {', '.join(proof.assumptions)}"
    yield "".join(f"{cell:<{_WIDE}}" for cell in ("", "all failures", *CLASSES)).rstrip()
    for name, judged in proof.verdicts.items():
        cells = [judged.overall, *judged.by_fault.values()]
        yield "".join(f"{cell:<{_WIDE}}" for cell in (f"  {name}", *map(_cell, cells))).rstrip()
    for name, judged in proof.verdicts.items():
        yield from _lost(name, judged.overall)
        for kind in CLASSES:
            sets = explanation.get(kind, {}).get(name)
            if sets:
                yield f"    {kind}: holds under {' or '.join(' + '.join(one) for one in sets)}"
    yield ""


def _cell(verdict: Verdict) -> str:
    figures = verdict.figures
    figure = figures.get("recoveries", figures.get("ratio")) if verdict.holds else None
    return f"yes, {figure}" if figure is not None else "yes" if verdict.holds else "no"


def _lost(name: Property, verdict: Verdict) -> Iterable[str]:
    yield f"  {name}: {'yes' if verdict.holds else 'no'}; {verdict.reason}"
    if verdict.figures.get("across_prompts"):
        yield "    a person who writes again, and gets no further, pays for recoveries again"
    if verdict.figures.get("restart_forgets") is False:
        yield "    a restart does not forget everything"
    if not verdict.holds:
        yield from scenario(verdict.witness)


def scenario(scenes: Iterable[Scene]) -> Iterable[str]:
    """Tell a witness step by step; what repeats for ever is marked."""
    part = "prefix"
    for number, scene in enumerate(scenes, 1):
        if scene.part != part:
            yield {"cycle": "    and then, for ever:", "instead": "    where a fresh one does:"}[scene.part]
            part = scene.part
        said = ", and says so" if scene.announced else ""
        yield f"    {number}. {scene.signal} → {scene.action}{said}"


def table(proofs: Iterable[Proof]) -> str:
    """Give the Markdown table of all verdicts: a figure or yes, or for which failures it is lost."""
    listed = list(proofs)
    heads = ["policy", "states", *listed[0].verdicts] if listed else []
    rows = [heads, ["---"] * len(heads)]
    for proof in listed:
        cells = [_markdown(judged.overall, judged.by_fault) for judged in proof.verdicts.values()]
        rows.append([proof.policy.name, f"{proof.states:,}", *cells])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _markdown(overall: Verdict, by_fault: Mapping[FaultClass, Verdict]) -> str:
    lost = [kind for kind, verdict in by_fault.items() if not verdict.holds]
    if overall.holds:
        return _cell(overall)
    return f"no: {', '.join(lost)}" if lost else "no: only where failures mix"


def reasons(proofs: Iterable[Proof]) -> str:
    """Give one line for every verdict: policy, property, what was found over all failures."""
    lines = [
        f"- {proof.policy.name}, {name}: {'yes' if judged.overall.holds else 'no'}; {judged.overall.reason}\n"
        for proof in proofs
        for name, judged in proof.verdicts.items()
    ]
    return "".join(lines)
