"""Long texts: secrets are found piece by piece, wherever a piece ends, and so many are told."""

import orjson
import pytest

from pmem.core.secrets.texts import MOST_SPOTS, in_file

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
_PIECE = 256 * 1024


@pytest.mark.parametrize("before", [0, 1000, _PIECE - 60, _PIECE - 1, _PIECE, 5 * _PIECE - 20])
@pytest.mark.parametrize("filling", ["word ", "x"])
def test_a_secret_in_a_long_text_is_found_wherever_it_stands(before: int, filling: str) -> None:
    start = (filling * before)[:before]
    data = orjson.dumps({"content": f"{start} {TOKEN} {'word ' * _PIECE}"})
    assert [spot.kind for spot in in_file(data)] == [
        spot.kind for spot in in_file(orjson.dumps({"content": f"a {TOKEN} b"}))
    ]


def test_of_very_many_secrets_the_first_are_told() -> None:
    many = " ".join(f"password = hunter{number:x}x9;" for number in range(40_000))
    assert len(in_file(orjson.dumps({"content": many}))) == MOST_SPOTS
