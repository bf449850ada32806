"""Findings as people, GitHub and GitLab read them, and the lines that they stand on."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmem.core.findings import (
    Finding,
    FolderPlace,
    github,
    gitlab,
    has_conflict,
    line_of_damage,
    line_of_field,
    line_of_markers,
    line_of_value,
    text,
)
from pmem.core.visible import visible
from pmem.errors import Damaged

PLACE = FolderPlace("/home/ada/shop/.project-memory", ".project-memory/")
PATH = "/home/ada/shop/.project-memory/long-term-memory/a-k3v9k3v9.json"
FINDING = Finding(PATH, "damaged", f"{PATH} is not valid JSON: oh, no: 100 %", 3)
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=30)
ANY = st.builds(
    Finding,
    path=ANY_TEXT.map(lambda name: f"{PLACE.folder}/{name}"),
    code=st.sampled_from(["damaged", "dangling"]),
    message=ANY_TEXT,
    line=st.none() | st.integers(1, 99),
)
COMMAND = re.compile(r"::error ((?:\w+=[^,:\r\n]*,?)+)::([^\r\n]*)\n")


def plain(escaped: str) -> str:
    """Take back the escapes of a workflow command, as GitHub's runner does."""
    for mark, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        escaped = escaped.replace(mark, sign)
    return escaped


def test_people_get_what_editors_understand() -> None:
    said = "".join(text(FINDING))
    assert said == f"{PATH}:3: damaged: is not valid JSON: oh, no: 100 %"
    assert "".join(text(Finding(PATH, "circle", "both"))) == f"{PATH}: circle: both"


def test_a_path_of_two_lines_is_told_once() -> None:
    error = Damaged("/m/a b\n.json has a name that is no id")
    found = Finding("/m/a b\n.json", "damaged", error.message)
    assert text(found) == ("/m/a b\\u{a}.json: ", "damaged: ", "has a name that is no id")


def test_github_gets_a_workflow_command() -> None:
    assert github([FINDING], PLACE) == (
        "::error file=.project-memory/long-term-memory/a-k3v9k3v9.json,line=3,"
        "title=pmem damaged::is not valid JSON: oh, no: 100 %25\n"
    )
    odd = Finding(f"{PLACE.folder}/a:b,c%.json", "local", "no")
    assert github([odd], PLACE).startswith("::error file=.project-memory/a%3Ab%2Cc%25.json,title=")


def test_gitlab_gets_a_code_quality_report() -> None:
    assert json.loads(gitlab([], PLACE)) == []
    [first, again] = json.loads(gitlab([FINDING, FINDING], PLACE))
    assert first.pop("fingerprint") != again.pop("fingerprint")
    assert first == again
    assert first == {
        "description": "is not valid JSON: oh, no: 100 %",
        "check_name": "damaged",
        "severity": "critical",
        "location": {
            "path": ".project-memory/long-term-memory/a-k3v9k3v9.json",
            "lines": {"begin": 3},
        },
    }


def test_a_fingerprint_stays_when_the_line_moves() -> None:
    moved = Finding(FINDING.path, FINDING.code, FINDING.message, 30)
    prints = [json.loads(gitlab([found], PLACE))[0]["fingerprint"] for found in (FINDING, moved)]
    assert prints[0] == prints[1]


@given(st.lists(ANY, max_size=4))
@example([Finding(f"{PLACE.folder}/\t", "damaged", "a\tb")])
def test_nothing_in_a_finding_forges_a_command_or_drives_a_terminal(found: list[Finding]) -> None:
    commands = github(found, PLACE)
    assert [match[0] for match in COMMAND.finditer(commands)] == commands.splitlines(keepends=True)
    assert commands.count("\n") == len(found)
    report = gitlab(found, PLACE)
    assert len({item["fingerprint"] for item in json.loads(report)}) == len(found)
    lines = ["".join(text(finding)) for finding in found]
    for said in (re.sub(r"[\n\t]", "", commands), report.replace("\n", ""), *lines):
        assert re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", said) is None


@given(ANY_TEXT)
def test_what_github_reads_back_is_what_was_meant(message: str) -> None:
    [command] = COMMAND.findall(github([Finding(PATH, "dangling", message)], PLACE))
    assert plain(command[1]) == visible(message.lstrip(": ")).replace("\t", "\\u{9}")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (PATH, ".project-memory/long-term-memory/a-k3v9k3v9.json"),
        (PLACE.folder, ".project-memory"),
        ("/home/ada/shop/.project-memory-too/a", "/home/ada/shop/.project-memory-too/a"),
        ("abc1234:docs/a.json", "abc1234:docs/a.json"),
        ("", ""),
    ],
)
def test_files_are_named_from_the_top_of_the_repository(path: str, name: str) -> None:
    assert PLACE.name(path) == name


def test_files_are_named_with_slashes_everywhere() -> None:
    place = FolderPlace("C:\\shop\\.project-memory", "web/.project-memory/")
    assert place.name("C:\\shop\\.project-memory\\local\\lock") == "web/.project-memory/local/lock"


DAMAGED: list[tuple[bytes, int | None]] = [
    (b"", 1),
    (b"{", 1),
    (b'{\n  "id": 1,\n}\n', 2),
    (b'{\n\n  "id": "\xff"\n}', 3),
    (b'{\n  "id": 1,\n<<<<<<< ours\n  "a": 1\n=======\n>>>>>>> theirs\n}\n', 3),
    (b"<<<<<<< ours\n", 1),
    (b'{\n  "a": 1\n>>>>>>> theirs\n', 3),
    (b"{}", None),
    (b"[1]", None),
]


@pytest.mark.parametrize(("content", "line"), DAMAGED)
def test_damage_has_a_line(content: bytes, line: int | None) -> None:
    assert line_of_damage(content) == line


@given(st.binary(max_size=60) | st.text('<>={}\n" ', max_size=60).map(str.encode))
def test_a_line_of_damage_is_a_line_of_the_file(content: bytes) -> None:
    line = line_of_damage(content)
    assert line is None or 1 <= line <= content.count(b"\n") + 1
    marked = line_of_markers(content)
    assert marked is None or content.split(b"\n")[marked - 1][:8] in (b"<<<<<<< ", b">>>>>>> ")
    assert not has_conflict(content) or marked is not None


def test_a_heading_is_no_conflict() -> None:
    assert not has_conflict(b"Title\n=======\n>>>>>>> quoted\n")
    assert has_conflict(b"Title\n<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    assert not has_conflict(b">>>>>>> \n<<<<<<< \n")


def test_a_field_and_a_value_have_lines() -> None:
    record = (
        b'{\n  "id": "a",\n  "note": {\n    "content": 1\n  },\n  "content": "x",\n  "to": "b"\n}'
    )
    assert line_of_field(record, "content") == 6
    assert line_of_field(b'{"content": 1}', "content") == 1
    assert line_of_field(record, "nothing") is None
    assert line_of_value(record, "b") == 7
    assert line_of_value(record, "c") is None
