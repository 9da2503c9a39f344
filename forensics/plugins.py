"""Import the plug-ins of a folder. One that cannot be imported is named: nothing else is broken then."""

import importlib
import pkgutil
import traceback
from pathlib import Path
from types import ModuleType


class PluginError(Exception):
    """A plug-in's file cannot be imported. The message names the file, the line and the error, in one line."""


def load(folder: ModuleType) -> None:
    """Import every module of the folder, so that what stands in it registers itself. Raise `PluginError`."""
    for module in pkgutil.iter_modules(folder.__path__):
        load_one(folder, module.name)


def load_one(folder: ModuleType, name: str) -> ModuleType:
    """Import one module of the folder. Raise `PluginError`."""
    try:
        return importlib.import_module(f"{folder.__name__}.{name}")
    except (Exception, SystemExit) as error:
        raise PluginError(_blame(folder, name, error)) from error


def _blame(folder: ModuleType, name: str, error: BaseException) -> str:
    """Name the file at fault: the innermost of the folder that was being imported, else the plug-in's own."""
    places = {Path(one) for one in folder.__path__}
    file: str = f"{folder.__name__}.{name}"
    line: int | None = None
    if isinstance(error, SyntaxError) and error.filename:
        file, line, words = error.filename, error.lineno, error.msg
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).parent in places:
                file, line = frame.filename, frame.lineno
        words = " ".join(str(error).split())
    place = file if line is None else f"{file}, line {line}"
    return f"{place}: {type(error).__name__}: {words[:200]}; this plug-in cannot be imported: mend or remove the file"
