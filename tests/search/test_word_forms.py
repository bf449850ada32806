"""Everyday questions in twelve languages, each with other forms of a memory's words.

`word_forms.json` has for each language pairs of a memory and a question. They were written before
what they measure.
"""

import json
from pathlib import Path
from typing import Final

import pytest

from pmem.core.retrieval.question import is_english
from tests.search.test_search import find, in_memory, keep, texts

PAIRS: Final[dict[str, list[list[str]]]] = json.loads(
    Path(__file__).with_name("word_forms.json").read_text("utf-8")
)
LEAST: Final = 6
"""So many of eight are first in every language."""
ALL: Final = 90
"""So many of ninety-six are, in all twelve together."""


def count_first(pairs: list[list[str]]) -> int:
    """Return how many of some questions have their own memory as the first hit."""
    workspace = in_memory()
    for memory, _ in pairs:
        keep(workspace, memory)
    return sum(texts(find(workspace, question))[:1] == [memory] for memory, question in pairs)


@pytest.mark.parametrize("language", sorted(PAIRS))
def test_another_form_of_a_word_finds_a_memory(language: str) -> None:
    assert count_first(PAIRS[language]) >= LEAST


def test_a_form_in_nearly_every_language_finds_it_first() -> None:
    assert sum(map(count_first, PAIRS.values())) >= ALL


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Wir schreiben an Herrn Müller", "Muller"),
        ("Wir schreiben an Herrn Müller", "Mueller"),
        ("Wir schreiben an Herrn Mueller", "Müller"),
        ("Wir schreiben an Herrn Mueller", "Muller"),
        ("Der Dienst läuft nachts", "laeuft"),
        ("Nguyễn Văn Hùng kiểm tra bản sao lưu", "Nguyen Van Hung"),
        ("كَتَبَ المُديرُ التقريرَ", "كتب المدير"),
        ("יְרוּשָׁלַיִם היא הבירה", "ירושלים"),
        ("הגיבויים רצים בלילה", "גיבוי"),
        ("הדוחות בארון", "לדוח"),
        ("Η Αθήνα είναι η έδρα", "αθηνα"),
        ("İstanbul ofisi kapalı", "istanbul"),
        ("क़ानून की प्रति गोदाम में है", "कानून"),
        ("Die Lagerverwaltung zählt", "Lager"),
        ("Der Datenbank-Container startet", "Datenbank"),
        ("Die Datenbank startet nachts", "Testdatenbank"),
        ("Die Varianten sind blau", "Größenvariante"),
        ("Zamówienie złożono w Łodzi", "zamowienia"),
    ],
)
def test_what_people_type_finds_what_was_written(written: str, asked: str) -> None:
    workspace = in_memory()
    keep(workspace, written)
    keep(workspace, "The tide turns at noon")
    found = find(workspace, asked)
    assert texts(found) == [written]
    assert not found.associated


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("wie war das möglich", False),
        ("testar as alterações", False),
        ("what does the café sell", True),
        ("when does the “backup” run", True),
        ("retries", False),
    ],
)
def test_an_accent_asks_for_more_english_words(question: str, known: bool) -> None:
    assert is_english(question) == known


def test_a_word_itself_comes_before_its_forms() -> None:
    workspace = in_memory()
    for text in ("Rechnungswesen im Keller", "Die Rechnung im Keller", "Rechnungen im Keller"):
        keep(workspace, text)
    assert texts(find(workspace, "Rechnung"))[0] == "Die Rechnung im Keller"


@pytest.mark.parametrize("asked", ["E0426", "8081", "cat"])
def test_numbers_names_of_code_and_short_words_have_no_forms(asked: str) -> None:
    workspace = in_memory()
    for text in ("E0425 is known", "port 8080 is open", "categories"):
        keep(workspace, text)
    assert find(workspace, asked).total == 0


def test_the_names_of_categories_are_no_forms_of_what_is_asked() -> None:
    workspace = in_memory()
    keep(workspace, "The tide turns at noon")  # a fact, whose category is "knowledge"
    assert find(workspace, "Known").total == 0


def test_a_related_word_is_told_as_one_though_the_text_has_what_begins_like_the_word() -> None:
    workspace = in_memory()
    keep(workspace, "They understand the knot")
    found = find(workspace, "what do they know of it")
    assert texts(found) == ["They understand the knot"]
    assert len(found.associated) == 1
