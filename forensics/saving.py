"""Write files whole or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_NUMBERS = count()


@contextlib.contextmanager
def saving(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written there takes the place of `path` at once, or not at all.

    A link is followed and stays; a device or a pipe is written to as it is. Raises `OSError`.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".forensics-{os.getpid()}-{next(_NUMBERS)}.part")
    try:
        yield part
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def save(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, text as UTF-8. Raises `OSError`."""
    with saving(path) as part:
        part.write_bytes(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
