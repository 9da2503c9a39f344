"""Make hostile text harmless for the place it is written to. Everything a transcript contains is hostile."""

import re
from functools import cache

from forensics.patterns import later

_SPACE = later(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_MARKDOWN = later(r"([\\`*_{}\[\]()#+\-.!|<>~&$@:=^])")


@cache  # 4 ms, of which text in ASCII needs none
def _control() -> re.Pattern[str]:
    return re.compile(
        "["
        "\0-\x1f\x7f-\x9f"  # C0 with ESC, C1
        "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # bidi controls and invisible separators
        "\ud800-\udfff\ufff9-\ufffb"
        "\U000e0000-\U000e007f"  # tags: text that no screen shows
        "]"
    )


@cache
def _not_xml() -> re.Pattern[str]:
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str) -> str:
    """Give one line without control characters: line ends and tabs become a space, other ones their number."""
    shown = _SPACE.sub(" ", text)
    return shown if shown.isascii() and shown.isprintable() else _control().sub(_shown, shown)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def json(text: str) -> str:
    """Escape what no screen should be given in JSON text: the document is the same, and its values are."""
    return text if text.isascii() and "\x7f" not in text else _control().sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    if match[0] < " ":  # JSON text holds these only between values
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def markdown(text: str) -> str:
    """Give one line in which no character has a meaning in GitHub's Markdown, in a table's cell or out of it."""
    return _MARKDOWN.sub(r"\\\1", plain(text)).replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\@", "&#64;")


def cell(text: str) -> str:
    """Give a CSV cell that no spreadsheet takes for a formula."""
    shown = plain(text)
    return f"'{shown}" if shown.lstrip().startswith(("=", "+", "-", "@")) else shown


def xml(text: str) -> str:
    """Leave out the characters that XML 1.0 does not allow, and show the other controls."""
    return plain(_not_xml().sub("", text))


def workflow(text: str) -> str:
    """Escape the message of a GitHub workflow command."""
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def workflow_property(text: str) -> str:
    """Escape the property of a GitHub workflow command."""
    return workflow(text).replace(":", "%3A").replace(",", "%2C")
