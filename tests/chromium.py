"""A real browser for tests: Chromium without a window, spoken to over a pipe in its own protocol."""

import base64
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE = 60.0


def program() -> str | None:
    """Give the browser's path; `None` where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a headless Chromium. `problems` collects console errors, exceptions and refused content."""

    def __init__(self, path: str) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._profile = tempfile.mkdtemp(prefix="forensics-chromium-")
        self._waiting = b""
        self._number = 0
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._session: str | None = None
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
                 f"--user-data-dir={self._profile}", "about:blank"]  # fmt: skip

        ends = f"exec 3<&{to_browser} 4>&{from_browser}; exec "
        self._process = subprocess.Popen(
            ["bash", "-c", ends + shlex.join([path, *flags])], pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(10)
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser for something and wait for the answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        found = self._until(lambda one: one.get("id") == self._number)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']}")
        result: dict[str, Any] = found["result"]
        return result

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            line, separator, rest = self._waiting.partition(b"\0")
            if not separator:
                block = os.read(self._in, 1 << 20)
                if not block:
                    raise RuntimeError("the browser ended")
                self._waiting += block
                continue
            self._waiting = rest
            message: dict[str, Any] = json.loads(line)
            self._note(message)
            if wanted(message):
                return message
        raise TimeoutError

    def _note(self, message: dict[str, Any]) -> None:
        method, content = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(content["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Runtime.consoleAPICalled" and content["type"] in {"error", "warning", "assert"}:
            self.problems.append(str(content["args"]))
        elif method == "Log.entryAdded":
            self.problems.append(f"{content['entry']['level']}: {content['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {content['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(content["request"]["url"])

    def view(self, *, width: int = 1200, height: int = 900, dark: bool = False, script: bool = True) -> None:
        """Set the screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)

    def open(self, path: Path, fragment: str = "") -> float:
        """Open a file; give the seconds until it was loaded."""
        began = time.monotonic()
        self.call("Page.navigate", url=path.absolute().as_uri() + fragment)
        self._until(lambda one: one.get("method") == "Page.loadEventFired")
        return time.monotonic() - began

    def run(self, expression: str) -> Any:
        """Evaluate an expression in the page (works with the page's own scripts off too)."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Save a screenshot as PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page."""
        found = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(found["data"]))
