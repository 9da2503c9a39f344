"""Proofs for people: the screen, and the table of all verdicts for a README."""

from collections.abc import Iterable, Mapping, Sequence

from forensics.proof.environment import CLASSES, FaultClass
from forensics.proof.explanation import Explanation
from forensics.proof.terms import Property
from forensics.proof.verdict import Scene, Verdict
from forensics.prove import Proof

_WIDE = 14


Asked = Sequence[tuple[Property, FaultClass | None]]
"""Properties, each over all failures or for one class."""


def to_text(
    proofs: Iterable[Proof], explanations: Mapping[str, Explanation] | None = None, asked: Asked | None = None
) -> str:
    """Tell each proof: what holds for which failure, and for what is lost the reason and the scenario.

    `asked`: only these, in this order; `None` tells all.
    """
    return "\n".join(
        "\n".join(_told(proof, (explanations or {}).get(proof.policy.name, {}), _asked(proof, asked)))
        for proof in proofs
    )


def to_brief(proofs: Sequence[Proof], asked: Asked | None = None) -> str:
    """Tell many proofs at once: a table of what holds, and for each property that is lost a line with the reason."""
    heads = ["policy", "states", *(_label(*one) for one in _asked(proofs[0], asked))]
    rows = [
        [proof.policy.name, f"{proof.states:,}", *(_cell(_judged(proof, *one)) for one in _asked(proof, asked))]
        for proof in proofs
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
    lost = [line for proof in proofs for line in _losses(proof, _asked(proof, asked))]
    return "\n".join([*lines, *(["", *lost] if lost else [])]) + "\n"


def _losses(proof: Proof, asked: Asked) -> Iterable[str]:
    for name, kind in asked:
        verdict = _judged(proof, name, kind)
        if not verdict.holds:
            yield f"{proof.policy.name}, {_label(name, kind)}: {_where(proof, name, kind)}; {verdict.reason}"


def _where(proof: Proof, name: Property, kind: FaultClass | None) -> str:
    lost = [one for one, verdict in proof.verdicts[name].by_fault.items() if not verdict.holds]
    return "no" if kind else f"no: {', '.join(lost) or 'only where failures mix'}"


def _asked(proof: Proof, asked: Asked | None) -> Asked:
    return [(name, None) for name in proof.verdicts] if asked is None else asked


def _label(name: Property, kind: FaultClass | None) -> str:
    return f"{name}:{kind}" if kind else name


def _judged(proof: Proof, name: Property, kind: FaultClass | None) -> Verdict:
    judged = proof.verdicts[name]
    return judged.by_fault[kind] if kind else judged.overall


def _told(proof: Proof, explanation: Explanation, asked: Asked) -> Iterable[str]:
    options = ", ".join(f"{name} = {value}" for name, value in proof.options.items())
    yield f"{proof.policy.name}: {proof.states:,} states" + (f" ({options})" if options else "")
    if proof.assumptions:
        yield f"  assumed: {', '.join(proof.assumptions)}"
    yield "".join(f"{cell:<{_WIDE}}" for cell in ("", "all failures", *CLASSES)).rstrip()
    for name in dict.fromkeys(name for name, _ in asked):
        judged = proof.verdicts[name]
        cells = [judged.overall, *judged.by_fault.values()]
        yield "".join(f"{cell:<{_WIDE}}" for cell in (f"  {name}", *map(_cell, cells))).rstrip()
    for name, only in asked:
        yield from _lost(_label(name, only), _judged(proof, name, only))
        for kind in [only] if only else CLASSES:
            sets = explanation.get(kind, {}).get(name)
            if sets:
                yield f"    {kind}: holds under {' or '.join(' + '.join(one) for one in sets)}"
    yield ""


def _cell(verdict: Verdict) -> str:
    figures = verdict.figures
    figure = figures.get("recoveries", figures.get("ratio")) if verdict.holds else None
    return f"yes, {figure}" if figure is not None else "yes" if verdict.holds else "no"


def _lost(name: str, verdict: Verdict) -> Iterable[str]:
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
