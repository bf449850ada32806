"""What tests of the server stand on."""

from collections.abc import Iterator

import pytest

from tests.http.serving import Asked, asking


@pytest.fixture
def ask(root: str) -> Iterator[Asked]:
    """Return what asks a server of the folder `root`."""
    with asking(root) as asked:
        yield asked
