"""The alphabet that policies share, and their registry.

A policy is the recovery logic of an agent as one decorated plain function: a pure step on a small hashable state,
`(state, signal, *, options) -> (state, action)` or `(state, action, announced)`. It takes no clock, reads nothing and
changes nothing, so the same function is walked exhaustively by `prove` and run over a transcript by `replay`.
The function's name is its id, its docstring the user's page, its keyword-only arguments its options.
"""

import difflib
import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args

from forensics import plugins

SignalKind = Literal["reply", "compacted", "prompt", "elapsed", "tick", "skipped", "restart"]
"""What a policy can be told.

`reply`: a reply ended. `compacted`: a compaction ended. `prompt`: a person wrote; `stop`, `fault`, `over` and `output`
then describe the last reply, where nothing has dealt with it yet (the check before a prompt). `elapsed`: the time
that the policy waited for is over. `tick`: time passed unasked, so a cooldown held in the state is over. `skipped`:
the continuation that the policy scheduled was not sent, because another actor took the turn. `restart`: the process
died and came back; what was only in memory is gone.
"""

Stop = Literal["done", "tool", "length", "error"]
"""How a reply ended, in the words of the event table: the task is done, a tool runs next, cut at a limit, failed."""

Fault = Literal["overflow", "output-budget", "transient"]
"""Why a reply failed. `transient` holds rate limits, overload and broken connections. On `compacted`, `overflow` says
that the summary request itself did not fit."""

Output = Literal["none", "some", "full"]
"""What a reply cut at a limit holds: nothing visible, less than the model's output cap, or exactly the cap."""

Outcome = Literal["summary", "no-summary", "failed", "aborted", "nothing"]
"""How a compaction ended: a usable summary; an empty or cut one; an error; stopped by a person; nothing to compact."""

Fits = Literal["yes", "no", "unknown"]

Action = Literal[
    "proceed",
    "continue",
    "compact",
    "compact-and-retry",
    "replay",
    "retry",
    "truncate",
    "wait",
    "show-error",
    "stop",
]
"""What a policy can do.

`proceed`: nothing to recover; the agent's ordinary loop goes on (a tool's result is sent, a finished turn ends, a
failed one too). `continue`: send a request that picks up the cut or compacted turn. `compact`: make a summary;
`compact-and-retry` also promises to go on after it. `replay`: send the person's message again. `retry`: send the
same request again. `truncate`: cut the context without a summary, and send. `wait`: for a delay, then ask again.
`show-error` and `stop` end the turn; whether a person is told is `announced`, not the action.
"""

COMPACTS: frozenset[str] = frozenset({"compact", "compact-and-retry"})
SENDS: frozenset[str] = frozenset({"continue", "replay", "retry", "truncate"})
RECOVERIES: frozenset[str] = COMPACTS | SENDS
ACTIONS: frozenset[str] = frozenset(get_args(Action))


class Signal(NamedTuple):
    """One thing a policy is told. `over`: the context is over the compaction threshold, by the agent's own measure."""

    kind: SignalKind
    stop: Stop | None = None
    fault: Fault | None = None
    over: bool = False
    output: Output | None = None
    outcome: Outcome | None = None
    fits: Fits = "unknown"
    """On `compacted`: whether the request that would follow fits the window, by the agent's own measure."""
    shrunk: bool = True
    """On `compacted`: the summary is smaller than what it replaced."""

    @property
    def good(self) -> bool:
        """The reply ended well."""
        return self.kind == "reply" and self.stop in {"done", "tool"}

    @property
    def progress(self) -> bool:
        """The reply ended well and left the context under the threshold."""
        return self.good and not self.over

    @property
    def bad(self) -> bool:
        """The reply was cut or failed."""
        return self.kind == "reply" and self.stop in {"length", "error"}

    def __str__(self) -> str:
        """Say it in a few words."""
        words = {"prompt": "prompt", "elapsed": "the wait is over", "tick": "time passes", "skipped": "skipped"}
        if self.kind == "compacted":
            return _compacted_words(self)
        if self.kind == "reply":
            return _reply_words(self)
        last = f" (last reply: {_reply_words(self)})" if self.kind == "prompt" and self.stop else ""
        return words.get(self.kind, self.kind) + last


def _reply_words(signal: Signal) -> str:
    if signal.stop == "error":
        text: str = signal.fault or "error"
    elif signal.stop == "length":
        text = {"none": "empty length stop", "some": "length stop", "full": "length stop at the output cap"}[
            signal.output or "some"
        ]
    else:
        text = "tool step" if signal.stop == "tool" else "finished reply"
    return f"{text} over the threshold" if signal.over else text


def _compacted_words(signal: Signal) -> str:
    if signal.outcome != "summary":
        words = {"no-summary": "no usable summary", "failed": "compaction failed", "aborted": "compaction aborted"}
        text = words.get(signal.outcome or "", "nothing to compact")
        return "summary request overflows" if signal.fault == "overflow" else text
    size = "" if signal.shrunk else " that did not shrink"
    return f"summary{size}" + (", which does not fit" if signal.fits == "no" else "")


State = Hashable


class Step(NamedTuple):
    """What a policy answers: its next state, what it does, and whether it tells the person so by itself."""

    state: State
    action: Action
    announced: bool = False


class Policy(NamedTuple):
    """A registered policy."""

    name: str
    start: State
    run: Callable[..., tuple[Any, ...]]
    options: dict[str, Any]
    """Option name (kebab case) to default value."""
    assume: tuple[str, ...]
    """What the agent's own construction rules out, whatever the environment does."""
    agent: str | None
    page: str
    module: str


class PolicyError(Exception):
    """A policy that cannot be used: it broke, or it answered something that is not a step."""


REGISTRY: dict[str, Policy] = {}


def policy(
    start: State, *, agent: str | None = None, assume: tuple[str, ...] = ()
) -> Callable[[Callable[..., tuple[Any, ...]]], Callable[..., tuple[Any, ...]]]:
    """Register a policy that begins in `start`; `assume` names what its agent's construction rules out."""

    def register(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
        name = function.__name__.replace("_", "-")
        options = {
            parameter.name.replace("_", "-"): parameter.default
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        page = inspect.getdoc(function) or ""
        REGISTRY[name] = Policy(name, start, function, options, assume, agent, page, function.__module__)
        return function

    return register


@cache
def policies() -> dict[str, Policy]:
    """Every policy by name, found by importing the folder."""
    import forensics.policies as folder  # noqa: PLC0415  (the folder imports this module)

    plugins.load(folder)
    return dict(sorted((name, one) for name, one in REGISTRY.items() if one.module.startswith(folder.__name__)))


def find(name: str) -> Policy:
    """Give the policy of that name, or the one that a path ending in `.py` defines. Raise `PolicyError`."""
    if name.endswith(".py"):
        return load(Path(name))
    known = policies()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise PolicyError(f"no policy {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return known[name]


def load(path: Path) -> Policy:
    """Import a file of the user's own that defines one policy. Raise `PolicyError`."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"forensics_user_policy_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise PolicyError(f"{path}: no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    held = dict(REGISTRY)
    REGISTRY.clear()
    try:
        spec.loader.exec_module(module)
        found = list(REGISTRY.values())
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        REGISTRY.clear()
        REGISTRY.update(held)
    if len(found) != 1:
        raise PolicyError(f"{path}: defines {len(found)} policies; it must define one function with @policy(start=…)")
    return found[0]


def source_file(one: Policy) -> str:
    """Give the file that defines the policy: within the package, or as the user's own path was given."""
    path = sys.modules[one.module].__file__ or ""
    inside = one.module.startswith("forensics.policies.")
    return f"{one.module.replace('.', '/')}.py" if inside else path


def source_hash(one: Policy) -> str:
    """Give the SHA-256 of the text that defines the policy: its module, and the helper modules it imports."""
    module = sys.modules[one.module]
    helpers = {
        name
        for value in vars(module).values()
        if (name := value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None))
        and name.startswith("forensics.policies._")
    }
    texts = [inspect.getsource(sys.modules[name]) for name in sorted({one.module, *helpers})]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def options_of(one: Policy, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge given options into the policy's defaults, by kebab-case name. Raise `PolicyError` on an unknown one."""
    unknown = sorted(set(given or {}) - set(one.options))
    if unknown:
        near = difflib.get_close_matches(unknown[0], one.options, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise PolicyError(f"{one.name} has no option {unknown[0]!r}{hint}")
    return {**one.options, **(given or {})}


def stepper(one: Policy, given: Mapping[str, Any] | None = None) -> Callable[[State, Signal], Step]:
    """Bind the options, and check each answer: a state that can be hashed, and an action of the alphabet."""
    options = {name.replace("-", "_"): value for name, value in options_of(one, given).items()}
    run = one.run

    def step(state: State, signal: Signal) -> Step:
        try:
            answer = Step(*run(state, signal, **options))
            hash(answer.state)
        except Exception as error:
            raise PolicyError(f"{one.name}: {type(error).__name__} on {signal} in {state!r}: {error}") from error
        if answer.action not in ACTIONS:
            raise PolicyError(f"{one.name}: {answer.action!r} on {signal} is not an action")
        return answer

    return step
