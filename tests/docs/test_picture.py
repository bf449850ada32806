"""The picture in the README is drawn from what pmem prints today."""

from docs import picture


def test_the_picture_shows_what_is_printed() -> None:
    assert picture.PATH.read_text(encoding="utf-8") == picture.drawn(), "`python -m docs.picture`"


def test_the_picture_fits_its_frame() -> None:
    lines = picture.drawn().splitlines()
    texts = [line for line in lines if line.startswith("<text")]
    assert len(texts) > 10
    assert max(len(line) for line in texts) < 160
