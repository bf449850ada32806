"""Holding texts to a budget: what the estimate keeps in reserve, and what counts exactly."""

from collections.abc import Callable, Collection
from functools import cache
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.tokens import (
    PREFERRED,
    Tokenizer,
    budget_counter,
    count_with_reserve,
    counter,
)
from pmem.errors import InvalidValue
from tests.core.test_tokens import COUNTS, EVERY_KIND, EVERY_VOCABULARY, anything, texts
from tests.vocabulary import bring_library_back, needs_the_library

SCRIPTS: Final[dict[str, tuple[int, str]]] = {
    "Arabic": (26, "وصلت الشاحنة متأخرة اليوم، لذلك سنبدأ التحميل غدًا صباحًا قبل الساعة الثامنة."),
    "Armenian": (27, "Այսօր բեռնատարը ուշացավ, ուստի բեռնումը կսկսենք վաղը առավոտյան։"),
    "Bengali": (24, "ট্রাকটি আজ দেরিতে এসেছে, তাই আমরা কাল সকাল আটটার আগে মাল তোলা শুরু করব।"),
    "Cyrillic": (26, "Вантажівка сьогодні запізнилася, тож завантажувати почнемо завтра вранці."),
    "Devanagari": (23, "ट्रक आज देर से आया, इसलिए हम कल सुबह आठ बजे से पहले माल लादना शुरू करेंगे।"),
    "Georgian": (22, "სატვირთო დღეს გვიან მოვიდა, ამიტომ დატვირთვას ხვალ დილით დავიწყებთ."),
    "Greek": (28, "Το φορτηγό άργησε σήμερα, οπότε θα αρχίσουμε τη φόρτωση αύριο το πρωί."),
    "Han": (30, "貨車今天遲到了,所以我們明天早上八點以前再開始裝貨,請通知倉庫的同事。"),
    "Hangul": (27, "오늘 트럭이 늦게 와서 내일 아침 여덟 시 전에 짐을 싣기로 했어요."),
    "Hebrew": (23, "המשאית איחרה היום, ולכן נתחיל להעמיס מחר בבוקר לפני שמונה."),
    "Kana": (26, "きょうはトラックがおくれたので、つみこみはあしたのあさからはじめます。"),
    "Latin": (28, "Ciężarówka spóźniła się dziś, więc załadunek zaczniemy jutro przed ósmą rano."),
    "Tamil": (25, "இன்று லாரி தாமதமாக வந்தது, எனவே நாளை காலை ஏற்றத் தொடங்குவோம்."),
    "Thai": (29, "วันนี้รถบรรทุกมาสาย เราจึงจะเริ่มขนของขึ้นรถพรุ่งนี้เช้าก่อนแปดโมง"),
}
EVERY_SCRIPT: Final = pytest.mark.parametrize("script", sorted(SCRIPTS))
NAMES: Final = {"Caroline": 461, "Krzysztof": 503, "Niamh": 489, "Oluwaseun": 503, "Zeynep": 503}
MOST: Final = 1.5


@EVERY_KIND
def test_the_reserve_covers_every_kind_of_text(kind: str) -> None:
    exact = sum(COUNTS[kind][PREFERRED])
    assert exact < sum(map(count_with_reserve, texts(kind))) < exact * MOST


@EVERY_SCRIPT
def test_the_reserve_covers_everyday_words_of_every_script(script: str) -> None:
    exact, text = SCRIPTS[script]
    assert exact < count_with_reserve(text) < exact * MOST


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_reserve_covers_a_name_on_every_line(name: str) -> None:
    assert NAMES[name] <= count_with_reserve(_with_name(name)) < NAMES[name] * MOST


def _with_name(name: str) -> str:
    return "".join(f"- {name}: {text}\n" for text in texts("chat"))


@needs_the_library
def test_the_recorded_counts_are_the_vocabularys(monkeypatch: pytest.MonkeyPatch) -> None:
    bring_library_back(monkeypatch)
    count = counter(PREFERRED)
    assert {name: count(text) for name, (_, text) in SCRIPTS.items()} == {
        name: exact for name, (exact, _) in SCRIPTS.items()
    }
    assert {name: count(_with_name(name)) for name in NAMES} == NAMES


@given(anything, anything)
def test_with_its_reserve_the_estimate_never_falls_as_a_text_grows(first: str, second: str) -> None:
    assert count_with_reserve(first + second) >= count_with_reserve(first)


@given(anything, anything)
def test_with_their_reserve_texts_cost_no_more_at_a_line_break_than_apart(
    first: str, second: str
) -> None:
    apart = count_with_reserve(first + "\n") + count_with_reserve(second)
    assert apart - 1 <= count_with_reserve(first + "\n" + second) <= apart


@pytest.mark.row("S3.10.8")
def test_without_the_library_a_budget_is_estimated_with_the_reserve() -> None:
    assert budget_counter("auto") == budget_counter("estimate") == (count_with_reserve, "estimate")


@needs_the_library
def test_with_the_library_a_budget_is_counted_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    bring_library_back(monkeypatch)
    found = budget_counter("auto")
    assert found.name == PREFERRED
    assert found.count(_with_name("Zeynep")) == NAMES["Zeynep"]
    assert budget_counter("estimate").name == "estimate"
    assert budget_counter("cl100k_base").name == "cl100k_base"


@needs_the_library
@EVERY_VOCABULARY
@given(text=anything | st.text(" \n\t\r/'sSt.,aA19\x1c\x85\u00a0\u3000\u0301中é-", max_size=60))
def test_a_text_has_as_many_tokens_as_its_pieces(vocabulary: Tokenizer, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        bring_library_back(patch)
        whole, pieces = _counters(vocabulary)
    assert pieces(text) == whole(text)


@cache
def _counters(vocabulary: Tokenizer) -> tuple[Callable[[str], int], Callable[[str], int]]:
    """Return what counts a text, and what adds up the counts of its pieces."""

    def kept(_: str, pieces: Collection[str], count: Callable[[str], int]) -> dict[str, int]:
        return {piece: count(piece) for piece in pieces}

    return budget_counter(vocabulary).count, budget_counter(vocabulary, kept).count


@EVERY_VOCABULARY
def test_a_vocabulary_that_was_chosen_is_never_replaced_by_the_estimate(
    vocabulary: Tokenizer,
) -> None:
    with pytest.raises(InvalidValue, match=vocabulary):
        budget_counter(vocabulary)
