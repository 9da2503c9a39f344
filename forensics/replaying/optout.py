"""How an endpoint is asked not to reason while it summarises, by the format it speaks: the fix of incident 5.

PilotDeck asked every one of them with `thinking: {enabled: false}` and dropped that on the way to the wire wherever
the model's reasoning state was `default`. The fix writes it in the endpoint's own words, where it has any. Source:
the report, its two halves ported to PilotDeck's August version and run.
"""

from typing import Any, NamedTuple


class OptOut(NamedTuple):
    """What goes over the wire; `None`: this endpoint cannot be asked, and reasons on."""

    wire: dict[str, Any] | None
    note: str = ""


FORMATS: dict[str, OptOut] = {
    "openai": OptOut(
        {"reasoning_effort": "none"},
        "an unknown provider is taken for one of these, and may answer 400",
    ),
    "anthropic": OptOut({"thinking": {"type": "disabled"}}),
    "thinking-type": OptOut({"thinking": {"type": "disabled"}}),
    "qwen-cloud": OptOut({"enable_thinking": False}),
    "qwen-local": OptOut({"chat_template_kwargs": {"enable_thinking": False}}),
    "openrouter": OptOut({"reasoning": {"enabled": False}}),
    "google": OptOut(None),
    "server-default": OptOut(None),
    "always-thinking": OptOut(None, "kimi-k3 and glm-5.3 models"),
}
ALWAYS_THINKING = ("kimi-k3", "glm-5.3")


def opt_out(format_: str, model: str = "", *, fixed: bool = True) -> dict[str, Any] | None:
    """Give the fields of the request; `None` where nothing is sent. Before the fix nothing ever was."""
    if not fixed or model.lower().rsplit("/", maxsplit=1)[-1].startswith(ALWAYS_THINKING):
        return None
    return FORMATS.get(format_, FORMATS["openai"]).wire
