"""Rebuild `samples/incidents` from the numbers of the incident reports: `python samples/builder [FOLDER]`."""

import sys
from pathlib import Path

import atomic
import opencode
import pilotdeck

BUILDERS = {
    "atomic-1690": atomic.underflow,
    "atomic-1684": atomic.length,
    "opencode-replo": opencode.replay,
    "opencode-37584": opencode.no_shrink,
    "pilotdeck": pilotdeck.incident,
}


def main() -> None:
    """Build every incident into the folder given, or beside this one."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "incidents"
    for name, build in BUILDERS.items():
        folder = target / name
        folder.mkdir(parents=True, exist_ok=True)
        build(folder)
        for path in sorted(folder.iterdir()):
            print(f"{path.relative_to(target).as_posix()}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
