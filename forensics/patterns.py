"""Regular expressions that are compiled when they are first asked: a scan needs a tenth of those it loads.

Compiling all of them took a fifth of the time that the program needs to start.
"""

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn", "groupindex")


class _Later:
    """Looks like a `re.Pattern`. Whatever is asked first compiles it, and then stands here as an attribute."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Give a pattern that `re.compile` makes when it is first used; an error in it shows then, too."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))
