"""Decision records as tools write them: what holds is a decision, and what does not is named."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import Outcome, Shell, new_repository

DECISION = "## Decision\n\nUse {0}.\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(new_repository(str(tmp_path / "p")))
    shell.run("pmem init -q")
    return shell


def write(shell: Shell, name: str, text: str) -> None:
    path = Path(shell.folder, "adr", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def take(shell: Shell) -> Outcome:
    done = shell.run("pmem import adr adr")
    assert done.code == 0, done.said
    return done


def active(shell: Shell) -> list[str]:
    found = json.loads(shell.run("pmem list --json -n 200").text)["data"]["items"]
    return sorted(one["content"].partition(".")[0] for one in found)


NOT_IN_FORCE = {
    "**Status:** Superseded\n\n": "is superseded",
    "**Status**: SUPERSEDED by ADR 0099 (2026-09-03)\n\n": "is superseded by ADR 0099, no record",
    "## Status: Deprecated\n\n": "is deprecated",
    "## Status - Rejected\n\n": "is rejected",
    "## Status\n\n~~Accepted~~ Withdrawn\n\n": "is withdrawn",
    "## Status\n\nAccepted\n\nDeprecated on 2026-01-02\n\n": "is deprecated",
    "## Status\n\n- [x] Rejected\n- [ ] Accepted\n\n": "is rejected",
    "### State\n\nObsolete\n\n": "is withdrawn",
    "| Status | Deprecated |\n|---|---|\n\n": "is deprecated",
    "| Field | Value |\n|---|---|\n| Date | 2026-01-01 |\n| Status | Proposed |\n\n": "is proposed",
    "| Status | Date |\n|---|---|\n| Rejected | 2026-01-01 |\n\n": "is rejected",
    "* Status: draft <!-- optional -->\n* Date: 2026-01-01\n\n": "is a draft",
    "> **Status:** not accepted\n\n": "is rejected",
    "Status: superceded\n\n": "is superseded",
    "Status: Entwurf\n\n": "is a draft",
    "Status: Bananas\n\n": "has a status that is not known: Bananas",
    "## Status\n\n[Proposed | Accepted | Deprecated | Superseded]\n\n": "offers several states",
    "## Status\n\n<!-- Accepted -->\n\nProposed\n\n": "is proposed",
}


@pytest.mark.parametrize(("status", "why"), NOT_IN_FORCE.items())
def test_a_decision_that_does_not_hold_is_left_out_with_the_reason(
    shell: Shell, status: str, why: str
) -> None:
    write(shell, "0001-perl.md", f"# ADR-1: Use Perl\n\n{status}{DECISION.format('Perl')}")
    write(shell, "0002-go.md", f"# ADR-2: Use Go\n\n{DECISION.format('Go')}")
    assert f"skipped adr/0001-perl.md: it {why}" in take(shell).said
    assert active(shell) == ["Use Go"]


@pytest.mark.parametrize(
    "front",
    [
        'status: "superseded by ADR-0099"',
        "status: superseded\nsuperseded-by: ADR-0099",
        "state: wip",
    ],
)
def test_a_status_in_front_matter_counts(shell: Shell, front: str) -> None:
    write(shell, "0001-perl.md", f"---\n{front}\n---\n# Use Perl\n\n{DECISION.format('Perl')}")
    write(shell, "0002-go.md", f"# Use Go\n\n{DECISION.format('Go')}")
    take(shell)
    assert active(shell) == ["Use Go"]


IN_FORCE = [
    "",
    "Status: accepted\n\n",
    "- Status: Accepted (was: proposed)\n\n",
    "## Status\n\nProposed -> Accepted\n\n",
    "## Status\n\n2026-01-01 proposed\n2026-02-01 accepted\n\n",
    "## Status\n\n✅ Approved\n\nThe team rejected Kafka.\n\n",
    "## Status\n\nPartially superseded by [2. Rust](0002-rust.md)\n\n",
    "**Status:** Accepted  \n**Superseded by:** —\n\n",
    "## Status\n\n- [ ] Proposed\n- [x] Accepted\n- [ ] Superseded\n\n",
]


@pytest.mark.parametrize("status", IN_FORCE)
def test_a_decision_that_holds_comes_in(shell: Shell, status: str) -> None:
    write(shell, "0001-go.md", f"# 1. Use Go\n\n{status}{DECISION.format('Go')}")
    assert "skipped" not in take(shell).said
    assert active(shell) == ["Use Go"]


NAMED = [
    "superseded by [20201029-use-memcached](20201029-use-memcached.md)",
    "superseded by 20201029-use-memcached",
    "Superseded by [2. Memcached](./20201029-use-memcached.md#decision)",
    "Superseded by ADR-0002",
    "Accepted - Superseded by [002](...) 2025-08-10",
    "replaced by 2",
    'Superseded by "Use Memcached for caching"',
    "Superseded by [[20201029-use-memcached]]",
    "ersetzt durch ADR 2",
]


@pytest.mark.parametrize("status", NAMED)
def test_a_successor_is_found_by_its_file_its_number_or_its_title(
    shell: Shell, status: str
) -> None:
    write(
        shell, "20201028-redis.md", f"# Redis\n\n- Status: {status}\n\n{DECISION.format('Redis')}"
    )
    title = "ADR-0002: Use Memcached for caching"
    write(shell, "20201029-use-memcached.md", f"# {title}\n\n{DECISION.format('Memcached')}")
    assert "1 superseded, 0 skipped" in take(shell).text
    assert active(shell) == ["Use Memcached for caching"]


def test_a_number_in_a_title_is_no_number_of_a_record(shell: Shell) -> None:
    write(shell, "1.md", f"# 1. A\n\nStatus: Superseded by Use HTTP 2\n\n{DECISION.format('A')}")
    write(shell, "2.md", f"# 2. B\n\n{DECISION.format('B')}")
    assert "is superseded by Use HTTP 2, no record here" in take(shell).said
    assert active(shell) == ["B"]


def test_the_newer_record_may_say_it_alone(shell: Shell) -> None:
    write(shell, "0001-a.md", f"# 1. A\n\n## Status\n\nAccepted\n\n{DECISION.format('A')}")
    text = (
        f"# 2. B\n\n## Status\n\nAccepted\n\nSupersedes [1. A](0001-a.md)\n\n{DECISION.format('B')}"
    )
    write(shell, "0002-b.md", text)
    take(shell)
    assert active(shell) == ["B"]


def test_a_proposal_supersedes_nothing_yet(shell: Shell) -> None:
    write(shell, "0001-a.md", f"# 1. A\n\n{DECISION.format('A')}")
    text = f"# 2. B\n\n## Status\n\nProposed\n\nSupersedes ADR-1\n\n{DECISION.format('B')}"
    write(shell, "0002-b.md", text)
    take(shell)
    assert active(shell) == ["A"]


def test_only_the_last_of_a_chain_holds(shell: Shell) -> None:
    for number, by in ((3, 1), (1, 2), (2, 0)):
        status = f"Status: superseded by ADR-{by}\n\n" if by else ""
        text = f"# {number}. N{number}\n\n{status}{DECISION.format(number)}"
        write(shell, f"000{number}-n.md", text)
    take(shell)
    assert active(shell) == ["N2"]
    assert take(shell).text.startswith("0 added, 0 updated, 3 unchanged, 0 skipped")


def test_numbers_count_within_a_folder_first(shell: Shell) -> None:
    for folder in ("web", "api"):
        old = f"# 1. {folder} old\n\nStatus: superseded by ADR-2\n\n{DECISION.format('X')}"
        write(shell, f"{folder}/0001-old.md", old)
        write(shell, f"{folder}/0002-new.md", f"# 2. {folder} new\n\n{DECISION.format('Y')}")
    take(shell)
    assert active(shell) == ["api new", "web new"]


def test_a_decision_that_holds_no_longer_takes_its_memory_with_it(shell: Shell) -> None:
    write(shell, "0001-a.md", f"# 1. A\n\n{DECISION.format('A')}")
    write(shell, "0002-b.md", f"# 2. B\n\n{DECISION.format('B')}")
    take(shell)
    write(shell, "0001-a.md", f"# 1. A\n\nStatus: deprecated\n\n{DECISION.format('A')}")
    assert "1 archived, 1 skipped" in take(shell).text
    assert active(shell) == ["B"]
    assert "archived" not in take(shell).text


def test_templates_indexes_and_comments_are_no_decisions(shell: Shell) -> None:
    write(shell, "README.md", "# Decisions\n\nThey are here.\n")
    write(shell, "adr-template.md", f"# Title\n\n{DECISION.format('x')}")
    write(shell, "0000-start.md", "# {short title of the problem}\n\n## Decision\n\n{say it}\n")
    text = (
        "# 1. A\n\n<!--\n## Status\n\nDeprecated\n-->\n\n## Decision\n\n<!-- why? -->\n\nUse A.\n"
    )
    write(shell, "0001-a.md", text)
    said = take(shell).said
    assert "adr/README.md: it has no section Decision" in said
    assert "adr/adr-template.md: it is a template" in said
    assert "adr/0000-start.md: it is a template" in said
    assert active(shell) == ["A"]


def test_what_a_memory_has_not_of_its_record_is_counted(shell: Shell) -> None:
    text = (
        "# 1. A\n\n## Context\n\nIt is slow.\n\nFor years.\n\n## Decision\n\nUse A, because\n\n"
        "- it is fast;\n- it is there.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Notes\n\nMore.\n"
    )
    write(shell, "0001-a.md", text)
    assert "left out of adr/0001-a.md: 1 table (lines 16-18), 1 paragraph (line 22)" in (
        take(shell).text
    )
    assert "Use A, because it is fast; it is there" in shell.run("pmem list").text


def test_a_decision_is_valid_from_its_date_and_not_from_that_of_its_end(shell: Shell) -> None:
    status = "Status: superseded by ADR-2 (2021-06-18)\n\n"
    write(shell, "20201028-a.md", f"# ADR 0001\n\n{status}{DECISION.format('A')}")
    write(shell, "0002-b.md", f"# 2. B\n\nStatus: accepted 2021-06-18\n\n{DECISION.format('B')}")
    take(shell)
    found = json.loads(shell.run("pmem list --all-states --json").text)["data"]["items"]
    days = {one["content"].partition(".")[0]: one["valid_from"][:10] for one in found}
    assert days == {"ADR 0001": "2020-10-28", "B": "2021-06-18"}


def test_a_record_without_a_heading_of_its_own_has_its_name_from_the_file(shell: Shell) -> None:
    write(shell, "20201028-use-redis.md", "## Decision\n\nUse Redis.\n")
    take(shell)
    assert active(shell) == ["20201028 use redis"]
