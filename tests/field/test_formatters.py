"""What pmem writes into a project passes the formatters and scanners that projects run."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.values.json_layout import WIDTH, fold_lists
from tests.faults.console import pmem
from tests.field.repositories import begin, commit

AS_PRETTIER_WRITES: dict[str, Any] = {
    '"tags": ["db", "infra"]': {"tags": ["db", "infra"]},
    '"lines": [1, 10]': {"lines": [1, 10]},
    '"empty": []': {"empty": []},
    '"mixed": ["a", 1, null, true, {}, []]': {"mixed": ["a", 1, None, True, {}, []]},
    '"lists": [\n    [1, 2],\n    [3, 4]\n  ]': {"lists": [[1, 2], [3, 4]]},
    '"list": [[1, 2]]': {"list": [[1, 2]]},
    '"objects": [\n    {\n      "a": 1\n    }\n  ]': {"objects": [{"a": 1}]},
    '"wide": ["' + "漢" * 33 + '"]': {"wide": ["漢" * 33]},
    '"wide": [\n    "' + "漢" * 34 + '"\n  ]': {"wide": ["漢" * 34]},
    '"signs": ["[", "]", "a\\nb", "\\"x\\", "]': {"signs": ["[", "]", "a\nb", '"x", ']},
}
"""What was compared with prettier 3, beside a thousand drawn records."""


def _written(value: Any) -> str:
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return fold_lists(orjson.dumps(value, option=option)).decode()


@pytest.mark.parametrize("wanted", AS_PRETTIER_WRITES)
def test_a_list_is_on_one_line_where_it_fits(wanted: str) -> None:
    assert _written(AS_PRETTIER_WRITES[wanted]) == "{\n  " + wanted + "\n}\n"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 10**9) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner),
)


@given(values)
def test_folding_changes_nothing_but_the_layout(value: Any) -> None:
    written = _written(value)
    assert json.loads(written) == value
    assert fold_lists(written.encode()).decode() == written


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_no_folded_list_is_wider_than_a_line(texts: list[str]) -> None:
    (line, *others) = _written({"tags": texts}).splitlines()[1:-1]
    assert others or len(line) <= WIDTH


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts and "local" not in path.parts:
            yield path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with all that pmem writes into one."""
    folder = begin(tmp_path / "project", "We use PostgreSQL")
    Path("fees.py").write_text("CAP = 1500\nRATE = 3\n", encoding="utf-8")
    commit()
    assert pmem("add", "The cap is 1500", "--cite", "fees.py::CAP=1500", "--tag", "a").code == 0
    assert pmem("add", "Money is exact", "--for", "src/**", "--cite", "fees.py:1-2").code == 0
    for harness in ("claude-code", "codex", "gemini", "cursor", "vscode", "opencode", "agents-md"):
        assert pmem("setup", harness).code == 0
    return folder


HEX = re.compile(r'"[0-9a-fA-F]{16,}"')
"""What detect-secrets takes for a secret where its entropy is above 3."""


def test_files_end_in_one_newline_and_have_no_trailing_space(project: Path) -> None:
    for path in _files(project):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), path
        assert "\r" not in text, path


def test_no_file_has_what_a_scanner_takes_for_a_secret(project: Path) -> None:
    for path in _files(project):
        assert not HEX.search(path.read_text(encoding="utf-8")), path


def test_the_block_of_instructions_is_laid_out_as_formatters_want(project: Path) -> None:
    lines = Path("AGENTS.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("<!-- BEGIN PMEM")
    assert (lines[1], lines[-2]) == ("", "")
    assert lines[-1] == "<!-- END PMEM -->"
