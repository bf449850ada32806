"""What hosts without hooks read from files."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.values.records import Memory, MemoryType, Scope, Settlement, Source
from pmem.vcs.rule_files import FORMS, STANDING_TOKENS, block, file_of, globs_of, rule_files
from tests.conftest import NOW


def memory(number: int, content: str, **fields: Any) -> Memory:
    known: dict[str, Any] = {"type": MemoryType.CONSTRAINT, "category": "constraints", **fields}
    return Memory(
        id=f"mjwaid1q-0000000{number}",
        content=content,
        valid_from=NOW,
        created_at=NOW,
        updated_at=NOW,
        **known,
    )


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("place", "globs"),
    [
        ("src/billing/**", ("src/billing/**",)),
        ("/setup.py", ("setup.py",)),
        ("*.sql", ("**/*.sql",)),
        ("vendor/", ("**/vendor/**",)),
        ("src/billing", ("src/billing", "src/billing/**")),
        ("src/billing/retry.py", ("src/billing/retry.py",)),
    ],
)
def test_a_place_is_written_as_hosts_read_it(place: str, globs: tuple[str, ...]) -> None:
    assert globs_of(place) == globs


def test_a_dead_end_comes_before_a_rule_and_what_is_pinned_before_all() -> None:
    found = block(
        [
            memory(1, "A rule"),
            memory(2, "Tried it", type=MemoryType.DEAD_END),
            memory(3, "Pinned", type=MemoryType.FACT, pinned=True),
            memory(4, "Only a fact", type=MemoryType.FACT),
        ],
        words,
    )
    assert found.index("Pinned") < found.index("Tried it") < found.index("A rule")
    assert "Only a fact" not in found


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": Scope(user="ada")},
        {"scope": Scope(app="mail")},
        {"source": Source(kind="import messages")},
        {"type": MemoryType.DEAD_END, "settled": Settlement(at=NOW)},
    ],
)
def test_nobodys_own_and_nothing_doubtful_or_settled_is_shared(fields: dict[str, Any]) -> None:
    assert "Secretly" not in block([memory(1, "Secretly", **fields)], words)


def test_each_place_has_a_file_of_its_own_and_one_that_is_taken_out_has_none() -> None:
    kept = [memory(1, "Cents", places=("src/**", "!src/old/**")), memory(2, "Always")]
    for host in FORMS:
        files = rule_files(host, kept, words)
        assert set(files) == {file_of(host), file_of(host, "src/**")}
        assert "Cents" in files[file_of(host, "src/**")]
        assert "Cents" not in files[file_of(host)]


def test_files_that_a_rule_leaves_out_are_named_where_globs_cannot_leave_them_out() -> None:
    kept = [memory(1, "Cents", places=("src/**", "!src/old/**"))]
    for host in FORMS:
        assert "Cents (not in src/old/**)" in rule_files(host, kept, words)[file_of(host, "src/**")]
    assert "src/**: Cents (not in src/old/**)" in block(kept, words)


def test_a_slash_that_changes_nothing_makes_no_second_file() -> None:
    kept = [memory(1, "Cents", places=("/src/x.py",)), memory(2, "Pence", places=("src/x.py",))]
    files = rule_files("cursor", kept, words)
    assert set(files) == {file_of("cursor"), file_of("cursor", "src/x.py")}
    assert {"Cents", "Pence"} <= set(files[file_of("cursor", "src/x.py")].split())
    assert file_of("cursor", "/x.py") in rule_files(
        "cursor", [memory(1, "A", places=("/x.py",))], words
    )


def test_agents_md_tells_what_warns_or_binds_at_places_after_what_holds_everywhere() -> None:
    kept = [
        memory(1, "Cents", places=("src/**",)),
        memory(2, "Always"),
        memory(3, "A plain fact", type=MemoryType.FACT, places=("src/**",)),
    ]
    said = block(kept, words)
    assert said.index("Always") < said.index("src/**: Cents")
    assert "plain fact" not in said


def test_what_the_budget_does_not_hold_is_counted() -> None:
    many = [memory(n, f"Rule {n} " + "word " * 90) for n in range(9)]
    found = block(many, words)
    assert words(found) < STANDING_TOKENS + 60
    assert "3 more" in found


@given(st.lists(st.text(max_size=60), max_size=4))
def test_no_text_ends_the_fence_or_begins_a_line(texts: list[str]) -> None:
    kept = [memory(n, text or "x") for n, text in enumerate(texts)]
    lines = block(kept, words).splitlines()
    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    assert len(fences) in (0, 2)
    inner = lines[fences[0] + 1 : fences[1]] if fences else []
    assert all(line.startswith("- ") for line in inner)
    assert len(inner) == len(kept)
