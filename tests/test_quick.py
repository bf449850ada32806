"""`make quick` runs what a change most likely breaks first."""

from pathlib import Path

import pytest

from tests.quick import nearest

TOP = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("changed", "first", "somewhere"),
    [
        (
            "pmem/core/retrieval/ranking.py",
            "tests/core/retrieval/test_ranking.py",
            "tests/core/retrieval",
        ),
        ("pmem/vcs/repair/plan.py", "tests/test_style.py", "tests/git"),
        ("pmem/server/tokens.py", "tests/http/test_tokens.py", "tests/http"),
        ("pmem/library/project.py", "tests/", "tests/cli/test_transcripts.py"),
        ("tests/cli/test_undo.py", "tests/cli/test_undo.py", "tests/test_layers.py"),
        ("tests/git/world.py", "tests/test_style.py", "tests/git"),
        ("docs/times.md", "tests/test_style.py", "tests/docs"),
        ("a/file/of/a/new/room.txt", "tests/test_style.py", "tests/cli/test_transcripts.py"),
    ],
)
def test_the_tests_of_what_changed_come_before_those_of_the_whole(
    changed: str, first: str, somewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOP)
    chosen = nearest([changed])
    assert chosen[0].startswith(first)
    assert somewhere in chosen
    assert "tests" not in chosen
