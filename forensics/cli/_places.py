"""Where agents keep their sessions: by their own environment variables, and by the system's conventions."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A folder or database that an agent writes, and which files in it are its sessions or logs."""

    agent: str
    what: str
    root: Path
    patterns: tuple[str, ...]


def places(environment: Mapping[str, str], home: Path, system: str = sys.platform) -> list[Place]:
    """Give every place to look at on this system, in the order of the agents' names."""
    found: list[Place] = []
    for agent in (_atomic, _openclaw, _opencode, _pi, _pilotdeck):
        found.extend(agent(_Machine(environment, home, system)))
    return found


class _Machine:
    def __init__(self, environment: Mapping[str, str], home: Path, system: str) -> None:
        self.environment, self.home, self.system = environment, home, system

    def folder(self, variable: str, *default: str) -> Path:
        value = self.environment.get(variable)
        return Path(value).expanduser() if value else self.home.joinpath(*default)

    def application(self, name: str) -> Path:
        """Give a desktop application's own data folder."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support" / name
        if self.system == "win32":
            return self.folder("APPDATA", "AppData", "Roaming") / name
        return self.folder("XDG_CONFIG_HOME", ".config") / name


_SESSIONS = ("**/*.jsonl", "**/*.jsonl.*")


def _pi(machine: _Machine) -> Iterator[Place]:
    base = machine.folder("PI_CODING_AGENT_DIR", ".pi", "agent")
    own = machine.environment.get("PI_CODING_AGENT_SESSION_DIR")
    yield Place("pi", "sessions", Path(own).expanduser() if own else base / "sessions", _SESSIONS)


def _atomic(machine: _Machine) -> Iterator[Place]:
    base = machine.folder("ATOMIC_CODING_AGENT_DIR", ".atomic", "agent")
    own = machine.environment.get("ATOMIC_CODING_AGENT_SESSION_DIR")
    yield Place("atomic", "sessions", Path(own).expanduser() if own else base / "sessions", _SESSIONS)


def _openclaw(machine: _Machine) -> Iterator[Place]:
    root = machine.folder("OPENCLAW_STATE_DIR", ".openclaw")
    files = tuple(f"*/sessions/{pattern}" for pattern in _SESSIONS)
    yield Place("openclaw", "sessions", root / "agents", files)
    yield Place("openclaw", "databases", root / "agents", ("*/agent/*.sqlite",))
    yield Place("openclaw", "sessions (older)", machine.home / ".clawdbot" / "agents", files)


def _opencode(machine: _Machine) -> Iterator[Place]:
    data = machine.folder("XDG_DATA_HOME", ".local", "share") / "opencode"
    own = machine.environment.get("OPENCODE_DB")
    if own:
        path = data / own  # an absolute one replaces the folder
        yield Place("opencode", "database", path.parent, (path.name,))
    else:
        yield Place("opencode", "databases", data, ("opencode*.db",))
    yield Place("opencode", "sessions (before 1.2)", data / "storage" / "session", ("**/*.json",))
    yield Place("opencode", "sessions (2025)", data / "project", ("*/storage/session/info/*.json",))
    yield Place("opencode", "logs", data / "log", ("*.log",))


def _pilotdeck(machine: _Machine) -> Iterator[Place]:
    root = machine.folder("PILOT_HOME", ".pilotdeck")
    yield Place("pilotdeck", "chats", root / "projects", ("*/chats/**/*.jsonl",))
    yield Place("pilotdeck", "runtime log", machine.application("pilotdeck-desktop") / "logs", ("runtime.log*",))
    yield Place("pilotdeck", "server log (older)", root, ("desktop.server.log",))


class Holding(NamedTuple):
    """What is in a place: files, their bytes, the newest one's time (UTC milliseconds)."""

    files: int
    bytes: int
    newest: int | None


def look(place: Place, glob: Callable[[Path, str], Iterator[Path]] = Path.glob) -> Holding | None:
    """Count what is in a place; `None` when there is none. What may not be read is not counted."""
    if not place.root.is_dir():
        return None
    files: dict[Path, tuple[int, int]] = {}
    for pattern in place.patterns:
        try:
            for path in glob(place.root, pattern):
                if path.is_file():
                    status = path.stat()
                    files[path] = (status.st_size, round(status.st_mtime * 1000))
        except OSError:
            continue
    newest = max((touched for _, touched in files.values()), default=None)
    return Holding(len(files), sum(size for size, _ in files.values()), newest)
