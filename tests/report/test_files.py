"""A report is written where it was asked for, and never over what is none."""

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.filters import fold
from pmem.core.pages import group_by_subject, page_name
from pmem.errors import InvalidValue, StorageRefused
from pmem.report.document import ReportDocument
from pmem.report.page import write_report, write_site
from tests.report.pages import ReadPage
from tests.report.test_page import document_saying

DOCUMENT = document_saying("queue")


def about(*subjects: str) -> ReportDocument:
    """Return a report with a memory on each of some subjects."""
    memory = DOCUMENT.memories[0]
    memories = tuple(msgspec.structs.replace(memory, id=each, subject=each) for each in subjects)
    return msgspec.structs.replace(DOCUMENT, memories=memories)


def test_a_report_takes_the_place_of_an_earlier_one() -> None:
    first = write_report(DOCUMENT, "report.html")
    assert write_report(DOCUMENT, "report.html") == first
    assert first.bytes == os.path.getsize("report.html")


def test_a_file_that_is_no_report_stays_as_it_is() -> None:
    Path("main.py").write_text("print()\n", encoding="utf-8")
    with pytest.raises(InvalidValue, match=r"main\.py is there and is no report"):
        write_report(DOCUMENT, "main.py")
    assert Path("main.py").read_text(encoding="utf-8") == "print()\n"


def test_a_folder_is_no_file_and_a_file_no_folder() -> None:
    Path("site").mkdir()
    with pytest.raises(InvalidValue, match="site is a folder"):
        write_report(DOCUMENT, "site")
    Path("page").write_text("", encoding="utf-8")
    with pytest.raises(InvalidValue, match="page is a file"):
        write_site(DOCUMENT, "page")


def test_a_folder_that_cannot_be_made_is_said_in_one_sentence() -> None:
    Path("page").write_text("", encoding="utf-8")
    with pytest.raises(StorageRefused, match="cannot be written"):
        write_report(DOCUMENT, "page/report.html")


def test_a_site_has_a_page_for_each_subject_that_the_report_leads_to() -> None:
    done = write_site(about("Queue", "queue", "Front end"), "site")
    pages = ReadPage(Path("site/index.html").read_text(encoding="utf-8")).document["pages"]
    assert list(pages) == ["queue", "Front end"]
    assert done.files == 3
    assert all(Path("site", page).is_file() for page in pages.values())


def test_pages_of_subjects_that_are_gone_go_and_other_files_stay() -> None:
    write_site(about("queue", "database"), "site")
    Path("site/subjects/mine.html").write_text("mine", encoding="utf-8")
    write_site(about("queue"), "site")
    assert sorted(os.listdir("site/subjects")) == ["mine.html", page_name("queue", "html")]


@given(st.text())
def test_a_subjects_page_has_a_name_that_every_system_takes(subject: str) -> None:
    name = page_name(subject, "html")
    assert name.isascii()
    assert name.removesuffix(".html").replace("-", "").isalnum()
    assert len(name) < 60
    assert name == page_name(subject.upper().lower(), "html") or fold(subject) != fold(
        subject.upper().lower()
    )


def test_subjects_that_differ_have_pages_of_their_own() -> None:
    names = ["a/b", "a b", "a-b", "../x", "x", "CON", "日本", "本日"]
    assert len({page_name(name, "html") for name in names}) == len(names)
    assert list(group_by_subject(about(*names).memories)) == names
