"""The page holds what records say as text, lets in its own script alone, and asks nobody."""

import json
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.changelog import ChangeReason, Learned
from pmem.report.document import (
    LeftOut,
    Receipt,
    ReceiptItem,
    ReportDocument,
    ToldChoice,
    ToldCitation,
    ToldEvent,
    ToldLink,
    ToldMemory,
    ToldNeed,
    ToldWeek,
)
from pmem.report.page import live_policy, render_live_page, render_page, render_subject
from pmem.values.records import dump_line
from tests.report.pages import ReadPage, addresses

NOW: Final = datetime(2026, 11, 25, 9, tzinfo=UTC)
HOSTILE: Final = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]></style><style>*{display:none}",
    "<img src=x onerror=alert(1)>",
    "\"><iframe src='https://evil.example'>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &amp;",
    "javascript:alert(1)",
    "\\u003c/script\\u003e",
    "\u2028\u2029",
)


def document_saying(text: str) -> ReportDocument:
    """Return a report that says a text in each field that can hold one."""
    memory = ToldMemory(
        id=text, type=text, text=text, category=text, created=NOW, held_from=NOW, held_until=NOW,
        subject=text, tags=(text,), state=text, trust=text, by=text,
        cites=(ToldCitation(place=text, state=text),), links=(ToldLink(to=text, type=text),),
        disputed={text: text}, more={text: [text]},
        history=(
            ToldEvent(
                at=NOW, event=text, by=text, agent=text, source=text,
                changes={text: (text, text)}, detail={text: text},
            ),
        ),
    )  # fmt: skip
    learned = Learned(
        id=text, short=text, kind=text, type=text, subject=text, text=text,
        how=ChangeReason.ADDED, replaces=(text,), linked=(),
    )  # fmt: skip
    receipt = Receipt(
        task=text, budget=100, tokens=9, text=text, spent={text: 9},
        items=(ReceiptItem(id=text, section=text, why=text, text=text),),
        left_out=(LeftOut(id=text, reason=text),), reasons={text: 1},
    )  # fmt: skip
    choice = ToldChoice(does=text, command=text)
    return ReportDocument(
        project=text, now=NOW, memories=(memory,),
        week=ToldWeek(since=NOW, learned=(learned,), by={text: (text,)}, people={text: 1}),
        needs=(ToldNeed(kind=text, text=text, why=text, choices=(choice,), memory=text),),
        receipts=(receipt,), counts={"active": 1},
    )  # fmt: skip


HARMLESS: Final = ReadPage(render_page(document_saying("a harmless text")))
HARMLESS_SUBJECT: Final = ReadPage(
    render_subject(document_saying("a"), "a", list(document_saying("a").memories))
)


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_records_say_a_page_has_the_same_elements(text: str) -> None:
    read = ReadPage(render_page(document_saying(text)))
    assert read.tags == HARMLESS.tags
    assert [name for name, _ in read.attributes] == [name for name, _ in HARMLESS.attributes]
    assert read.policy == HARMLESS.policy


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_records_say_a_subjects_page_has_the_same_elements(text: str) -> None:
    document = document_saying(text)
    read = ReadPage(render_subject(document, text, list(document.memories)))
    assert read.tags == HARMLESS_SUBJECT.tags
    assert [name for name, _ in read.attributes] == [
        name for name, _ in HARMLESS_SUBJECT.attributes
    ]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_page_holds_exactly_what_the_document_says(text: str) -> None:
    document = document_saying(text)
    read = ReadPage(render_page(document))
    assert read.tags == HARMLESS.tags
    assert read.document == json.loads(dump_line(document))


def test_the_policy_lets_in_the_pages_own_script_and_style_and_nothing_else() -> None:
    read = HARMLESS
    assert read.allows("script")
    assert read.allows("style")
    assert read.policy.split("; ")[0] == "default-src 'none'"
    names = {part.split()[0] for part in read.policy.split("; ")}
    assert names == {
        "default-src", "base-uri", "form-action", "img-src", "style-src", "script-src"
    }  # fmt: skip
    assert "unsafe" not in read.policy


def test_a_subjects_page_runs_no_script_at_all() -> None:
    assert "script" not in HARMLESS_SUBJECT.tags
    assert "script-src" not in HARMLESS_SUBJECT.policy
    assert HARMLESS_SUBJECT.allows("style")


def test_a_page_names_no_address_and_has_no_handler_or_style_of_an_element() -> None:
    page = render_page(document_saying("a harmless text"))
    assert addresses(page) == []
    assert [name for name, _ in HARMLESS.attributes if name.startswith(("on", "style"))] == []


def test_the_script_writes_no_markup() -> None:
    script = HARMLESS.blocks["script"]
    banned = (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
    )
    assert [word for word in banned if word in script] == []


def test_a_page_that_a_server_shows_holds_no_record_and_may_ask_that_server_alone() -> None:
    read = ReadPage(render_live_page("/pmem/1/", "/api/events"))
    assert read.blocks.get("script application/json", "") == ""
    assert ("data-live", "/pmem/1/") in read.attributes
    assert read.policy == live_policy()
    assert "connect-src 'self'" in read.policy
    assert read.allows("script")
