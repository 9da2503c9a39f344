import csv
import io
import json
from xml.etree.ElementTree import fromstring

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forensics import safe
from forensics.safe import cell, markdown, plain, workflow, xml

ANY = st.text(alphabet=st.characters())


def test_plain_text_stays_as_it_is() -> None:
    assert plain("naïve 日本語 👩\u200d💻 1,204") == "naïve 日本語 👩\u200d💻 1,204"


def test_controls_show_by_number() -> None:
    assert plain("a\x1b[2J\x07\x9b\x7f\u202eb\U000e0041") == "a\\x1b[2J\\x07\\x9b\\x7f\\u202eb\\U000e0041"
    assert plain("one\r\ntwo\tthree\u2028four") == "one two three four"


@given(ANY)
def test_plain_text_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = plain(text)
    shown.encode()
    assert len(shown.splitlines()) <= 1
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown)
    assert plain(shown) == shown


def test_json_text_holds_no_sign_that_a_screen_obeys() -> None:
    """A tester's C1 controls and bidi marks came out of json, jsonl and sarif as they were."""
    text = 'a\x7fb\x9b2J\u202ec\u2066\ufeff\u2028\U000e0041 "naïve" 日本語 👩\u200d💻'
    shown = safe.json(json.dumps({text: [text]}, ensure_ascii=False, indent=1))
    assert json.loads(shown) == {text: [text]}
    assert '"a\\u007fb\\u009b2J\\u202ec\\u2066\\ufeff\\u2028\\udb40\\udc41 \\"naïve\\" 日本語 👩\u200d💻"' in shown


@given(st.recursive(ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner), max_leaves=5))
def test_escaped_json_text_has_the_same_values(value: object) -> None:
    shown = safe.json(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(shown) == value
    assert plain("".join(shown.split("\n"))) == "".join(shown.split("\n"))


@given(ANY)
def test_markdown_renders_as_the_text_itself(text: str) -> None:
    html = MarkdownIt("commonmark").enable("table").render(f"x{markdown(text)}x")
    inner = html.strip().removeprefix("<p>").removesuffix("</p>")
    assert "<" not in inner
    assert " ".join(_unescaped(inner).split()) == " ".join(f"x{plain(text)}x".split())


def _unescaped(text: str) -> str:
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text


@given(ANY)
def test_a_cell_is_no_formula_and_reads_back(text: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerow([cell(text), "end"])
    ((first, last),) = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert last == "end"
    assert not first.lstrip().startswith(("=", "+", "-", "@"))


@given(ANY)
def test_xml_is_well_formed(text: str) -> None:
    escaped = xml(text).replace("&", "&amp;").replace("<", "&lt;")
    fromstring(f"<a>{escaped}</a>")


@given(ANY)
def test_a_workflow_message_starts_no_line(text: str) -> None:
    assert len(f"x{workflow(text)}".splitlines()) == 1
