"""The shape of the house: who may import whom, and that every plug-in has its page, its sample and its test."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "forensics"
PLUGINS = {"parsers": "parser", "detectors": "detector", "policies": "policy"}
GROUPS = {"proof", "replaying", "checking", "capturing"}
"""Folders of helper modules behind a verb of the same layer; a rule names their modules as `folder/module`."""
_PROOF = {f"proof/{name}" for name in ("environment", "walk", "terms", "graphs", "ratio", "equivalence", "verdict")}
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "events": set(),
    "patterns": set(),
    "tolerant": {"patterns"},
    "faults": {"events", "patterns"},
    "dates": {"sane"},
    "usage": {"dates", "events"},
    "timeline": {"attempts", "events", "usage"},
    "attempts": {"events", "patterns"},
    "failures": {"events", "patterns", "timeline"},
    "rates": set(),
    "wal": set(),
    "database": set(),
    "fitting": {"sane", "tolerant"},
    "source": {"database", "fitting", "tolerant", "wal"},
    "sane": {"events", "source"},
    "writing": {"source", "tolerant"},
    "head": {"database", "patterns", "tolerant"},
    "plugins": set(),
    "parse": {"database", "events", "fitting", "head", "plugins", "sane", "source", "writing", "parsers"},
    "detect": {"events", "plugins", "timeline", "detectors"},
    "replay": {"plugins", "policies"},
    "prove": {"replay", "proof/properties", *_PROOF},
    "proof/environment": {"replay"},
    "proof/walk": {"proof/environment", "replay"},
    "proof/terms": {"proof/environment", "proof/walk", "replay"},
    "proof/graphs": {"proof/walk"},
    "proof/ratio": {"proof/graphs", "proof/walk"},
    "proof/equivalence": {"proof/walk"},
    # The checker of certificates shares what words mean with the prover, and none of its searches.
    "proof/checks": {"proof/environment", "proof/terms", "proof/walk", "replay"},
    "proof/*": {"events", "prove", "replay", "proof/*"},
    "replaying/*": {
        "attempts", "events", "failures", "parse", "proof/*", "replay", "replaying/*", "safe", "timeline",
    },
    "parsers/*": {"events", "faults", "parse", "patterns", "sane", "tolerant"},
    "detectors/*": {
        "events", "faults", "timeline", "usage", "attempts", "failures", "detect", "rates", "patterns",
    },
    "policies/*": {"replay"},
}  # fmt: skip


def _modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if not name.endswith("/__init__"):
            yield name, path


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "forensics":
            inner = node.module.split(".")[1:]
            if inner and inner[0] in GROUPS:
                found |= {f"{inner[0]}/{name}" for name in (inner[1:2] or [alias.name for alias in node.names])}
                continue
            found |= {inner[0]} if inner else {alias.name for alias in node.names}
            if len(inner) > 1:
                found.add("/".join(inner[:2]))
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("forensics.")}
    return {name for name in found if "/" not in name or name.split("/")[0] in {*PLUGINS, *GROUPS}}


def _plugins() -> list[tuple[str, Path]]:
    return [
        (folder, path)
        for folder in PLUGINS
        for path in sorted((PACKAGE / folder).glob("*.py"))
        if not path.stem.startswith("_")
    ]


@pytest.mark.parametrize(("name", "path"), list(_modules()), ids=lambda value: str(value)[-40:])
def test_a_module_imports_only_what_the_design_lets_it(name: str, path: Path) -> None:
    folder = name.split("/", maxsplit=1)[0]
    rule = MAY_IMPORT.get(name, MAY_IMPORT.get(f"{folder}/*"))
    imported = _imports(path)
    assert "cli" not in imported or name == "__main__" or folder == "cli"
    neighbours = {one for one in imported if one.startswith(f"{folder}/") and not one.split("/")[1].startswith("_")}
    assert folder not in PLUGINS or not neighbours
    if rule is not None:
        plain = {one for one in imported if one.split("/")[0] not in PLUGINS} | (imported & set(PLUGINS))
        whole = {one.removesuffix("/*") for one in rule if one.endswith("/*")}
        extra = {one for one in plain if one.split("/")[0] not in whole} - rule - ({folder} & set(PLUGINS))
        assert not extra


@pytest.mark.parametrize(("folder", "path"), _plugins(), ids=lambda value: getattr(value, "stem", str(value)))
def test_a_plug_in_has_its_page_its_sample_and_its_test(folder: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    decorated = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == PLUGINS[folder]
            for d in node.decorator_list
        )
    ]
    assert [node.name for node in decorated] == [path.stem]
    assert ast.get_docstring(decorated[0])
    assert (ROOT / "tests" / folder / f"test_{path.stem}.py").is_file()
    if folder != "policies":
        assert list((ROOT / "samples" / folder).glob(f"{path.stem}*"))
