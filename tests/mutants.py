"""Make mutants of the detectors: each a detector with one change of meaning, named so that the name outlives lines.

Changed are comparisons, `and` and `or`, `not`, arithmetic, numbers, severities and confidences, conditions (always
true, never true), members of sets, `any` and `all`, `min` and `max`. Words for people, types and imports are left
alone. What no change is made to: statements as a whole, texts that are compared, the basis of a measure.
"""

import ast
import copy
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent.parent / "forensics" / "detectors"
_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
_LEVELS = {"error": "warning", "warning": "note", "note": "error", "high": "low", "medium": "high", "low": "high"}
_CALLS = {"any": "all", "all": "any", "min": "max", "max": "min"}
_SENTENCES = {"_sentence", "_message", "_told", "_span", "where"}
"""Functions that make words for people."""
Way = tuple[tuple[str, int | None], ...]
"""The fields from a module down to a node, each with the place in it where it is a list."""


class Mutant(NamedTuple):
    """A changed module: where, what it was, what it is now, and the way to the node that takes the other's place."""

    module: str
    place: str
    before: str
    after: str
    way: Way
    node: ast.AST

    @property
    def name(self) -> str:
        """Name the mutant by what it means."""
        return f"{self.module}.{self.place}: {self.before} -> {self.after}"

    def tree(self) -> ast.Module:
        """Build the changed module."""
        made: Any = original(self.module)
        parent = made
        for field, at in self.way[:-1]:
            parent = getattr(parent, field) if at is None else getattr(parent, field)[at]
        field, at = self.way[-1]
        if at is None:
            setattr(parent, field, self.node)
        else:
            getattr(parent, field)[at] = self.node
        whole: ast.Module = ast.fix_missing_locations(made)
        return whole


def modules() -> list[str]:
    """Name the modules that are mutated: detectors, and their helpers that hold logic."""
    names = (path.stem for path in sorted(FOLDER.glob("*.py")))
    return [name for name in names if name not in {"__init__", "_words"}]


def original(module: str) -> ast.Module:
    """Read a module as it is."""
    return ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))


def mutants(module: str) -> Iterator[Mutant]:
    """Give every mutant of a module; a number tells those apart where the same change occurs twice in a function."""
    seen: dict[str, int] = {}
    for place, way, node in _nodes(original(module)):
        for after in _changes(node):
            before, now = _text(node), _text(after)
            if before == now:
                continue
            name = f"{place}: {before} -> {now}"
            seen[name] = seen.get(name, 0) + 1
            suffix = "" if seen[name] == 1 else f" #{seen[name]}"
            yield Mutant(module, place, before, now + suffix, way, after)


def fingerprint(module: str) -> str:
    """Give what stays the same while a module means the same: its pages, comments and messages may change."""
    digest = hashlib.sha256()
    for place, _, node in _nodes(original(module)):
        plain = [value for _, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list, type(None)))]
        digest.update(repr((place, type(node).__name__, plain)).encode())
    return digest.hexdigest()[:16]


def _nodes(tree: ast.Module) -> Iterator[tuple[str, Way, ast.AST]]:
    """Give each node that means something, with the function it stands in and the way to it."""

    def walk(node: ast.AST, place: str, way: Way) -> Iterator[tuple[str, Way, ast.AST]]:
        yield place, way, node
        for field, value in ast.iter_fields(_unrounded(node)):
            if field in {"annotation", "returns", "type_comment"} or _is_words(node, field):
                continue
            inner = f"{place}.{node.name}" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else place
            for at, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(child, ast.AST):
                    yield from walk(child, inner.removeprefix("."), (*way, (field, at)))

    yield from walk(tree, "", ())


def _is_words(node: ast.AST, field: str) -> bool:
    """Whether a field holds words for people: what a claim's message says is not what it means."""
    if isinstance(node, ast.keyword) and node.arg == "message":
        return True
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)) or _chooses_words(node):
        return True
    if isinstance(node, ast.FunctionDef) and node.name in _SENTENCES:
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and field == "value"


def _chooses_words(node: ast.AST) -> bool:
    """Whether it is `this sentence if ... else that`; one that chooses between a sentence and none decides more."""
    if not isinstance(node, ast.IfExp):
        return False
    branches = (node.body, node.orelse)
    if any(isinstance(one, ast.JoinedStr) for one in branches):
        return True
    texts = [one.value for one in branches if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return len(texts) == len(branches) and all(" " in text for text in texts)


def _unrounded(node: ast.AST) -> ast.AST:
    """Pass over the number of decimals of a rounded figure."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "round":
        return ast.Call(func=node.func, args=node.args[:1], keywords=[])
    return node


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            if type(operator) in _COMPARE:
                yield _with(node, "ops", at, _COMPARE[type(operator)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, "op", None, ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for rest in _without_one(node.values):
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _ARITHMETIC:
        yield _with(node, "op", None, _ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.Constant):
        yield from (ast.Constant(value) for value in _constants(node.value))
    else:
        yield from _other_changes(node)


def _other_changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.If, ast.IfExp)) and not _chooses_words(node):
        yield from (_with(node, "test", None, ast.Constant(value)) for value in (True, False))
    elif isinstance(node, ast.While):
        yield _with(node, "test", None, ast.Constant(value=False))
    elif isinstance(node, ast.comprehension):
        for at in range(len(node.ifs)):
            yield _with(node, "ifs", at, ast.Constant(value=True))
    elif isinstance(node, ast.Set) and len(node.elts) > 1:
        yield from (ast.Set(rest) for rest in _without_one(node.elts))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield _with(node, "func", None, ast.Name(_CALLS[node.func.id], ast.Load()))


def _constants(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value:
            yield value - 1
    elif isinstance(value, float):
        yield value * 1.1 if value else 0.1
        yield value * 0.9
    elif isinstance(value, str) and value in _LEVELS:
        yield _LEVELS[value]


def _without_one(values: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for at in range(len(values)):
        yield [value for other, value in enumerate(values) if other != at]


def _with(node: Any, field: str, at: int | None, value: Any) -> Any:
    made = copy.copy(node)
    if at is None:
        setattr(made, field, value)
    else:
        items = list(getattr(node, field))
        items[at] = value
        setattr(made, field, items)
    return made


def _text(node: ast.AST) -> str:
    if isinstance(node, (ast.If, ast.While)):
        return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}"
    return ast.unparse(node).strip()
