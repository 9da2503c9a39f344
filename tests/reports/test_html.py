"""The HTML report in a real browser: no errors, nothing fetched, hostile text stays text, thousands stay usable."""

import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from forensics.detect import Finding
from forensics.incident.build import assemble
from forensics.incident.model import Incident
from forensics.reports import formats, render
from forensics.reports.html import page
from forensics.summary import Report
from tests.chromium import Browser

Build = Callable[..., Incident]
LOG = Path("incidents") / "pilotdeck" / "runtime.log"
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Outline(HTMLParser):
    """Reads a page: open tags, ids, links, and whether every tag is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if "id" in found:
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found.get("href")))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    return found


@pytest.fixture
def pilotdeck(tmp_path: Path, incident_of: Build, samples: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(page(incident_of(samples / LOG)), encoding="utf-8")
    return path


def test_the_page_is_well_formed_and_its_links_lead_somewhere(pilotdeck: Path) -> None:
    found = outline(pilotdeck.read_text(encoding="utf-8"))
    assert found.faults == []
    assert found.stack == []
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert all(link.startswith("#") for link in found.links)


def test_nothing_is_fetched_and_only_its_own_script_may_run(pilotdeck: Path) -> None:
    text = pilotdeck.read_text(encoding="utf-8")
    found = outline(text)
    assert not [tag for tag, attrs in found.tags if {"src", "srcset", "style", "onclick", "onload"} & attrs.keys()]
    assert not re.search(r"url\((?!#)", text)
    assert text.count("<script>") == 1
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text


def test_tables_and_figures_speak_to_a_screen_reader(pilotdeck: Path) -> None:
    found = outline(pilotdeck.read_text(encoding="utf-8"))
    names = [tag for tag, _ in found.tags]
    assert names.count("table") == names.count("caption")
    assert all(attrs.get("scope") in {"col", "row"} for tag, attrs in found.tags if tag == "th")
    assert all(attrs.get("role") == "img" and attrs.get("aria-labelledby") for tag, attrs in found.tags if tag == "svg")
    assert {"main", "nav", "header", "footer"} <= set(names)
    assert names.count("h1") == 1
    assert found.links[0] == "#main"


def test_scan_writes_the_page_without_figures(report: Report) -> None:
    assert "html" in formats()
    text = render("html", report)
    assert "<svg" not in text
    assert "A reply failed, and a person had to write" in text
    assert outline(text).faults == []


def test_hostile_text_stays_text(hostile: Report) -> None:
    text = render("html", hostile)
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert outline(text).faults == []
    assert not [link for link in outline(text).links if not link.startswith("#")]


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (390, False), (390, True)])
def test_a_browser_shows_it_without_errors(browser: Browser, pilotdeck: Path, width: int, dark: bool) -> None:
    browser.problems.clear()
    browser.requests.clear()
    browser.view(width=width, dark=dark)
    browser.open(pilotdeck)
    assert browser.problems == []
    assert {url.split("#", maxsplit=1)[0] for url in browser.requests} == {pilotdeck.as_uri()}
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("[...document.querySelectorAll('svg')].filter((one) => one.getClientRects().length).length") == 6


def test_it_can_be_read_without_scripts(browser: Browser, pilotdeck: Path) -> None:
    browser.problems.clear()
    browser.view(script=False)
    browser.open(pilotdeck)
    text = browser.run("document.body.innerText")
    browser.view()
    for words in ("What happened", "67 / 59 (88 %)", "665,361 tokens (7.0 × the cap)", "Findings, worst first"):
        assert words in text
    assert browser.run("document.querySelectorAll('button').length") == 0


def test_tables_sort_and_filter(browser: Browser, pilotdeck: Path) -> None:
    browser.view()
    browser.open(pilotdeck)
    first = "document.querySelector('table[data-sort=findings] tbody tr').innerText"
    browser.run("document.querySelectorAll('table[data-sort=findings] th button')[1].click()")
    assert "compaction-loop-1" in browser.run(first)
    assert browser.run("document.querySelectorAll('table[data-sort=findings] th')[1].ariaSort") == "ascending"
    browser.run("document.querySelectorAll('table[data-sort=findings] th button')[1].click()")
    assert "usage-outlier-1" in browser.run(first)
    browser.run(
        "(() => { const box = document.querySelector('#findings .filter input');"
        " box.value = 'crash'; box.dispatchEvent(new Event('input')); })()"
    )
    shown = "[...document.querySelectorAll('table[data-sort=findings] tbody tr')].filter((row) => !row.hidden).length"
    end = time.monotonic() + 5
    while browser.run(shown) != 1 and time.monotonic() < end:
        time.sleep(0.05)
    assert browser.run(shown) == 1


def test_a_link_opens_the_finding_that_it_leads_to(browser: Browser, pilotdeck: Path) -> None:
    browser.view()
    browser.open(pilotdeck)
    browser.run("for (const one of document.querySelectorAll('details')) one.open = false")
    browser.run("location.hash = '#crash-loop-1'")
    opened = "document.getElementById('crash-loop-1').closest('details').open"
    end = time.monotonic() + 5
    while not browser.run(opened) and time.monotonic() < end:
        time.sleep(0.05)
    assert browser.run(opened)


def test_text_stands_out_from_its_ground(browser: Browser, pilotdeck: Path) -> None:
    """Every colour of text has a contrast of 4.5 or more (WCAG AA), light and dark."""
    script = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
    for dark in (False, True):
        browser.view(dark=dark)
        browser.open(pilotdeck)
        assert browser.run(script) == []


def test_keyboards_reach_everything(browser: Browser, pilotdeck: Path) -> None:
    browser.view()
    browser.open(pilotdeck)
    for _ in range(3):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert browser.run("document.activeElement.getAttribute('href')") == "#impact"
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    odd = "[...document.querySelectorAll('[onclick],[tabindex]')].filter((one) => one.tabIndex > 0).length"
    assert browser.run(odd) == 0


def test_hostile_text_does_nothing_in_a_browser(browser: Browser, hostile: Report, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render("html", hostile), encoding="utf-8", errors="strict")
    browser.problems.clear()
    browser.view()
    browser.open(path)
    assert browser.problems == []
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert "<script>alert(1)</script>" in browser.run("document.body.textContent")


@pytest.mark.slow
def test_five_thousand_findings_stay_usable(
    browser: Browser, report_of: Callable[..., Report], finding_of: Callable[..., Finding], tmp_path: Path
) -> None:
    findings = [
        finding_of(
            id=f"{at:016x}/v1", lines=[at * 10 + 1, at * 10 + 2], detector=("manual-continue", "no-summary")[at % 2]
        )
        for at in range(5000)
    ]
    path = tmp_path / "many.html"
    began = time.perf_counter()
    path.write_text(page(assemble(report_of(findings))), encoding="utf-8")
    assert time.perf_counter() - began < 15
    assert path.stat().st_size < 12_000_000
    browser.problems.clear()
    browser.view()
    assert browser.open(path) < 15
    assert browser.problems == []
    assert browser.run("document.querySelectorAll('.case').length") == 5000
    assert browser.run("document.querySelectorAll('.case[open]').length") <= 4
    began = time.perf_counter()
    browser.run("document.querySelectorAll('table[data-sort=findings] th button')[1].click()")
    browser.run("document.body.offsetHeight")
    assert time.perf_counter() - began < 8


def test_it_prints_with_every_finding_open(browser: Browser, pilotdeck: Path, tmp_path: Path) -> None:
    browser.view()
    browser.open(pilotdeck)
    browser.pdf(tmp_path / "report.pdf")
    data = (tmp_path / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) in range(5, 40)
