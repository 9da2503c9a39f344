"""Text inside a line of GitHub's Markdown: only what has a meaning there is escaped, so that the source stays readable.

`safe.markdown` escapes every mark, for text that may begin a line; what comes from here must not begin one.
"""

import re

from forensics.safe import plain

_ALWAYS = re.compile(r"[\\`*_\[\]|~$]")
_SOMETIMES = re.compile(
    r"(?<=www)\.|:(?=//)"  # addresses that GitHub links by itself
    r"|:(?=(?:[a-z+-][\w+-]*|100|1234):)",  # names of emoji
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[@#])(?=\w)|(?<=\b[Gg][Hh]-)(?=\d)")
"""People and issues, which GitHub looks for in what was rendered: an empty comment parts the sign from the name."""


def inline(text: str) -> str:
    """Give one line of text that means itself inside a paragraph, a list item or a table's cell."""
    shown = _SOMETIMES.sub(r"\\\g<0>", _ALWAYS.sub(r"\\\g<0>", plain(text).replace("&", "&amp;")))
    return _NAMED.sub("<!-- -->", shown.replace("<", "&lt;").replace(">", "&gt;"))
