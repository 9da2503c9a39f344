"""Names that the user gave: whether a policy of that name is there, whether any detector was named."""

from collections.abc import Iterable

from forensics.config import Settings, UsageError, chosen, nearest
from forensics.detect import detectors
from forensics.replay import PolicyError, policies


def there(names: Iterable[str]) -> None:
    """Raise `PolicyError` with the names there are for one that is like none of them; a `.py` file is any name."""
    known = policies()
    for name in names:
        words = "" if name.endswith(".py") or name in known else nearest(name, known)
        if words.startswith("there are"):  # of one that is like another, the search says so itself
            raise PolicyError(f"no policy {name!r}; {words}")


def selected(asked: Settings) -> list[str]:
    """Give the detectors to run, sorted. Raises `UsageError`; so it does for a list of none, which runs nothing."""
    if "select" in asked and not asked["select"]:
        raise UsageError("--select: names no detector; leave it out to run all of them")
    return chosen(asked.get("select"), asked.get("ignore"), detectors())
