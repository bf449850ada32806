"""A text cut to a length."""

from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lines import shortened


@given(st.text(max_size=80), st.integers(2, 50))
def test_what_is_shortened_has_so_many_characters(text: str, most: int) -> None:
    found = shortened(text, most)
    assert len(found) <= most
    assert found == text or found.endswith("…")
