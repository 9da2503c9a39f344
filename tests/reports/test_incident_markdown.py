"""The Markdown report: it renders, hostile text stays text, and it is cut honestly at GitHub's limit."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forensics.detect import Finding
from forensics.incident.build import assemble
from forensics.incident.model import Incident
from forensics.reports._incident_markdown import MOST, page
from forensics.reports._inline import inline
from forensics.safe import plain
from forensics.summary import Report

Build = Callable[..., Incident]
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@given(st.text(alphabet=st.characters()))
def test_inline_text_renders_as_itself(text: str) -> None:
    html = RENDERER.render(f"x{inline(text)}x").strip()
    inner = html.removeprefix("<p>").removesuffix("</p>").replace("<!-- -->", "")
    assert "<" not in inner
    assert " ".join(unescape(inner).split()) == " ".join(f"x{plain(text)}x".split())


@given(st.text(alphabet=st.characters()))
def test_a_cell_stays_one_cell(text: str) -> None:
    html = RENDERER.render(f"| a | b |\n| --- | --- |\n| {inline(text)} | end |\n")
    cells = re.findall(r"<td>(.*?)</td>", html, re.DOTALL)
    assert len(cells) == 2
    assert cells[1] == "end"


def test_what_github_links_by_itself_is_broken() -> None:
    shown = inline("see #12, GH-3, www.evil.example, https://evil.example, @everyone, :smile:, $x$, a/b#4")
    for words in ("#12", "GH-3", "www.e", "https://e", "@everyone", "b#4"):
        assert words not in shown
    assert not re.search(r"(?<!\\)(?::smile|\$)", shown)


def test_plain_sentences_stay_readable_in_the_source() -> None:
    text = "59 of 67 compaction attempts made no summary (88 %), 2026-09-19 01:20:19 - 16:18:17"
    assert inline(text) == text


def test_the_report_of_an_incident_renders(incident_of: Build, samples: Path) -> None:
    text = page(incident_of(samples / "incidents" / "pilotdeck" / "runtime.log"))
    html = RENDERER.render(text)
    assert "<td>665,361 tokens (7.0 × the cap)</td>" in html
    assert "<td>67 / 59 (88 %)</td>" in html
    assert "<td>799,094 tokens (8.4 × the cap)</td>" in html
    assert html.count("<table>") >= 8
    assert "| ---" not in re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    names = set(re.findall(r'name="([^"]+)"', html))
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert links <= names


def test_hostile_text_stays_text(hostile: Report) -> None:
    text = page(assemble(hostile))
    html = RENDERER.render(text)
    assert "<script>" not in html
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', html))
    assert "\x1b" not in text
    assert "\u202e" not in text
    headings = re.findall(r"<h[1-6]>(.*?)</h[1-6]>", html)
    assert "not a heading" not in headings


def test_five_thousand_findings_are_cut_and_that_is_said(
    report_of: Callable[..., Report], finding_of: Callable[..., Finding]
) -> None:
    findings = [finding_of(id=f"{at:016x}/v1", lines=[at * 10 + 1]) for at in range(5000)]
    text = page(assemble(report_of(findings)))
    assert MOST - 3000 < len(text) <= MOST
    shown = text.count('<a name="manual-continue-')
    assert f"{5000 - shown:,} of 5,000 findings are left out here for GitHub's limit" in text
    assert "## Coverage" in text.replace('<a name="coverage"></a>', "")


def test_a_thousand_sessions_keep_within_the_limit(
    report_of: Callable[..., Report], finding_of: Callable[..., Finding]
) -> None:
    made = assemble(report_of([finding_of(message="x" * 400, id=f"{at:016x}/v1") for at in range(300)]))
    made.sessions = made.sessions * 1000
    text = page(made)
    assert len(text) <= MOST
    assert "more sessions" in text or "left out here" in text
