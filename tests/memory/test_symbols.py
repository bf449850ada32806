"""Citing what a file defines: functions, classes and constants, and what becomes of them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmem.errors import InvalidValue, NotFound
from pmem.library import Project
from pmem.memory import symbols
from pmem.storage.git.function_lines import function_lines
from pmem.values.records import Citation, Memory
from tests.cli.shell import pmem

PYTHON = '''"""Money."""

RETRIES = 3


def settle(order, retries=RETRIES):
    """Settle an order at the vendor's."""
    for attempt in range(retries):
        if vendor.pay(order, "as  agreed"):
            return attempt
    raise Unsettled(order)


class Billing:
    LIMIT = 100

    def settle(self, order):
        return settle(order, self.LIMIT)
'''
SCRIPT = """const RETRIES: number = 3;

export async function settle(order: Order): Promise<number> {
  for (let attempt = 0; attempt < RETRIES; attempt++) {
    if (await pay(order, `as  agreed`)) {
      return attempt;
    }
  }
  throw new Unsettled(order);
}

class Billing {
  settle(order: Order) {
    return settle(order);
  }
}
"""
FILES = {
    "src/money.py": (PYTHON, "settle", "Billing.settle", "RETRIES=3"),
    "src/money.ts": (SCRIPT, "settle", "Billing.settle", "RETRIES=3"),
}
COMMENT = {"py": "# New.", "ts": "// New."}


@pytest.fixture
def project() -> Project:
    """Make a project without git, with the same program in two languages."""
    Path("project/src").mkdir(parents=True)
    os.chdir("project")
    for file, (text, *_) in FILES.items():
        Path(file).write_text(text)
    return Project(actor="ada")


def cited(project: Project, *places: str) -> Memory:
    return project.add("Orders are settled thrice", cite=places, force=True).memory


def states(project: Project) -> dict[str, str]:
    """Return what verifying says of each citation that is not fresh."""
    said = {}
    for item in project.verify().items:
        one = Citation(file=item.file, lines=item.lines, symbol=item.symbol, digest="")
        now = item.now and Citation(
            file=item.now.file, lines=item.now.lines, symbol=item.symbol, digest=""
        )
        said[one.place] = now.place if now else item.reason or str(item.state)
    return said


def change(file: str, become: Callable[[str], str]) -> None:
    before = Path(file).read_text()
    Path(file).write_text(become(before))
    assert Path(file).read_text() != before


def test_a_symbol_is_cited_with_the_lines_that_define_it(project: Project) -> None:
    for file, (_, *names) in FILES.items():
        memory = cited(project, *(f"{file}::{name}" for name in names))
        assert [one.place for one in memory.citations] == [f"{file}::{name}" for name in names]
        first = Path(file).read_text().split("\n")[memory.citations[0].lines[0] - 1]  # type: ignore[index]
        assert "ettle" in first
    assert states(project) == {}


@pytest.mark.parametrize("file", FILES)
def test_code_elsewhere_and_moves_within_the_file_change_nothing(
    project: Project, file: str
) -> None:
    text, name, method, constant = FILES[file]
    cited(project, *(f"{file}::{one}" for one in (name, method, constant)))
    note = COMMENT[file.rpartition(".")[2]]
    change(file, lambda text: f"{note}\n\n{text}\n\n{note}\n")
    assert states(project) == {}
    start = text.index(text[text.lower().index("settle(") :].split("\n")[0])
    head = text.rindex("\n", 0, start) + 1
    end = text.index("\n\n", head)
    body, rest = text[head:end], text[:head] + text[end + 1 :]
    Path(file).write_text(f"{rest}\n{body}\n")
    assert states(project) == {}
    assert project.verify(update=True).updated == 0


@pytest.mark.parametrize("file", FILES)
def test_a_body_that_changes_is_told_and_the_other_one_is_not(project: Project, file: str) -> None:
    _, name, method, constant = FILES[file]
    cited(project, *(f"{file}::{one}" for one in (name, method, constant)))
    change(file, lambda text: text.replace("as  agreed", "as agreed"))
    assert states(project) == {f"{file}::{name}": "changed"}


@pytest.mark.parametrize("file", FILES)
def test_a_constant_is_stale_as_soon_as_its_value_differs(project: Project, file: str) -> None:
    *_, constant = FILES[file]
    cited(project, f"{file}::{constant}")
    change(file, lambda text: text.replace("= 3", "   =\t3"))
    assert states(project) == {}
    change(file, lambda text: text.replace("=\t3", "= 5"))
    assert states(project) == {f"{file}::{constant}": "cited 3, the code says 5"}


@pytest.mark.parametrize("file", FILES)
def test_a_name_that_goes_is_gone(project: Project, file: str) -> None:
    _, name, method, constant = FILES[file]
    cited(project, *(f"{file}::{one}" for one in (name, method, constant)))
    change(file, lambda text: text.replace("ettle", "ubmit").replace("s = ", "es = "))
    gone = {f"{file}::{one}": f"has no {one}" for one in (name, method)}
    assert {place: said for place, said in states(project).items() if place in gone} == gone


REFORMATTED = {
    "src/money.py": (
        PYTHON.replace("    ", "\t")
        .replace("(order, retries=RETRIES)", "(\n\torder,\n\tretries = RETRIES,\n)")
        .replace("(self, order)", "(\n\t\tself,\n\t\torder,\n\t)")
        .replace("\t\treturn settle", "\n\t\treturn settle")
    ),
    "src/money.ts": SCRIPT.replace("  ", "\t")
    .replace("\t\t\treturn", "\t\t\t\n return")
    .replace("as\tagreed", "as  agreed")
    .replace("{\n", "\n{\n"),
}


@pytest.mark.parametrize("file", FILES)
def test_reformatting_is_no_alarm(project: Project, file: str) -> None:
    text, name, method, constant = FILES[file]
    size = text.count("\n")
    lines = text[: text.lower().index("settle(")].count("\n") + 1
    cited(
        project, file, f"{file}:1-{size}", *(f"{file}::{one}" for one in (name, method, constant))
    )
    Path(file).write_text(REFORMATTED[file])
    assert REFORMATTED[file] != text
    said = states(project)
    again = REFORMATTED[file].count("\n")
    assert said in ({}, {f"{file}:1-{size}": f"{file}:1-{again}"})
    assert lines > 1
    assert project.verify(update=True).stale == 0
    assert states(project) == {}


def test_a_function_that_goes_to_another_file_is_found_there(project: Project) -> None:
    memory = cited(project, "src/money.py::settle", "src/money.py::RETRIES=3")
    Path("src/money.py").write_text("from src.payment import settle\n")
    Path("src/payment.py").write_text(
        "import vendor\n\nRETRIES = 3\n\n\n" + PYTHON[PYTHON.index("def ") :]
    )
    assert states(project) == {
        "src/money.py::settle": "src/payment.py::settle",
        "src/money.py::RETRIES=3": "has no RETRIES",
    }
    assert project.verify(update=True).updated == 1
    now = project.show(memory.id)
    assert isinstance(now, Memory)
    assert [one.place for one in now.citations] == [
        "src/payment.py::settle",
        "src/money.py::RETRIES=3",
    ]
    assert list(states(project)) == ["src/money.py::RETRIES=3"]


def test_a_method_has_moved_only_where_its_class_has(project: Project) -> None:
    cited(project, "src/money.py::Billing.settle")
    method = PYTHON[PYTHON.index("    def settle") :]
    Path("src/money.py").write_text("from src.payment import Billing\n")
    Path("src/payment.py").write_text(f"class Selling:\n{method}")
    assert states(project) == {"src/money.py::Billing.settle": "has no Billing.settle"}
    Path("src/payment.py").write_text(f"class Billing:\n{method}")
    assert states(project) == {"src/money.py::Billing.settle": "src/payment.py::Billing.settle"}


def test_a_twin_of_another_class_does_not_stand_in(project: Project) -> None:
    run = "    def run(self, order):\n        return settle(order)\n"
    Path("src/twins.py").write_text(f"class One:\n{run}\n\nclass Two:\n{run}")
    cited(project, "src/twins.py::One.run", "src/twins.py::Two.run")
    change("src/twins.py", lambda text: text.replace("settle(order)", "submit(order)", 1))
    assert states(project) == {"src/twins.py::One.run": "changed"}
    change("src/twins.py", lambda text: text.replace("class Two", "class Zwei"))
    assert states(project) == {
        "src/twins.py::One.run": "changed",
        "src/twins.py::Two.run": "has no Two.run",
    }


def test_text_at_the_margin_hides_no_class(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = '    TEXT = """\nDear customer,\n"""\n\n'
    method = "    def settle(self, order):\n        return settle(order)\n"
    Path("src/letters.py").write_text(f"class Letters:\n{before}{method}")
    cited(project, "src/letters.py::Letters.settle")
    monkeypatch.setattr("subprocess.Popen", None)
    change("src/letters.py", lambda text: f"# new\n{text}")
    assert states(project) == {}
    assert "stale" not in project.build_context().text


def test_a_name_that_is_still_defined_is_not_looked_for_elsewhere(project: Project) -> None:
    cited(project, "src/money.py::settle")
    Path("src/copy.py").write_text(PYTHON)
    change("src/money.py", lambda text: text.replace("Unsettled", "Unpaid"))
    assert states(project) == {"src/money.py::settle": "changed"}


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("src/money.py::submit", "src/money.py defines no submit that git knows"),
        ("src/money.py::Selling.settle", "defines no Selling.settle"),
        ("src/money.py::order", "defines no order"),
        ("src/missing.py::settle", "src/missing.py cannot be cited: it is not there"),
        ("src::settle", "src cannot be cited: it is no regular file"),
        ("logo.png::settle", "binary and defines no settle"),
        ("src/money.py::RETRIES=5", "RETRIES is 3 in src/money.py, not 5"),
        ("src/money.py::TRIES=5", "src/money.py gives no value to TRIES"),
        ("src/money.py::RETRIES=", "cannot be cited: it is not there"),
        ("src/money.py::", "cannot be cited: it is not there"),
        ("src/money.py::a b", "cannot be cited: it is not there"),
        ("::settle", "cannot be cited: it is not there"),
        ("src/money.py::X=" + "9" * 201, "cannot be cited: it is not there"),
        ("twice.py::settle", "defines settle 3 times, in lines 1, 4, 7"),
        ("twice.py::X=1", "X is 1 and 2 in twice.py, not 1"),
    ],
)
def test_what_cannot_be_cited_is_one_sentence(project: Project, place: str, why: str) -> None:
    Path("logo.png").write_bytes(b"\x89PNG\0settle\n")
    Path("twice.py").write_text("def settle():\n    pass\n\n" * 3 + "X = 1\nX = 2\n")
    with pytest.raises(InvalidValue, match=why) as refused:
        project.add("Nothing", cite=(place,))
    assert "\n" not in str(refused.value)
    assert project.list().total == 0


def test_a_file_of_the_very_name_comes_first(project: Project) -> None:
    Path("src/money.py::settle").write_text("a file\n")
    Path("src/a::b.py").write_text(PYTHON)
    Path("src/a").write_text("b\n")
    odd = "src/ö 'q\"; $(x)\n::.py"
    Path(odd).write_text(PYTHON)
    memory = cited(project, "src/money.py::settle", "src/a::b.py::settle", f"{odd}::Billing.settle")
    assert [(one.file, one.symbol) for one in memory.citations] == [
        ("src/money.py::settle", None),
        ("src/a::b.py", "settle"),
        (odd, "Billing.settle"),
    ]
    change(odd, lambda text: "# new\n" + text.replace("self.LIMIT", "self.MOST"))
    assert states(project) == {f"{odd}::Billing.settle": "changed"}


def test_symbols_are_seen_from_the_current_folder_and_taken_away_by_name(project: Project) -> None:
    os.chdir("src")
    memory = cited(
        project, "money.py::settle", "money.py::RETRIES=3", "money.py::Billing", "money.py"
    )
    places = [one.place for one in memory.citations]
    assert places[:2] == ["src/money.py::settle", "src/money.py::RETRIES=3"]
    left = project.edit(memory.id, uncite=("money.py::settle", "money.py::RETRIES"))
    assert [one.place for one in left.citations] == ["src/money.py::Billing", "src/money.py"]
    with pytest.raises(NotFound):
        project.edit(memory.id, uncite=("money.py::settle",))
    os.unlink("money.py")
    left = project.edit(memory.id, uncite=("src/money.py::Billing",))
    assert [one.place for one in left.citations] == ["src/money.py"]


def test_a_constant_is_cited_with_one_value(project: Project) -> None:
    memory = cited(project, "src/money.py::RETRIES=3")
    change("src/money.py", lambda text: text.replace("RETRIES = 3", "RETRIES = 5"))
    edited = project.edit(memory.id, "Five times", cite=("src/money.py::RETRIES=5",))
    assert [one.place for one in edited.citations] == ["src/money.py::RETRIES=5"]


def test_without_git_names_are_not_found_but_what_was_cited_is(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cited(project, "src/money.py::settle", "src/money.py::Billing.settle")
    monkeypatch.setattr(symbols, "function_lines", lambda *_: None)
    with pytest.raises(InvalidValue, match="only git can find settle") as refused:
        project.add("Nothing", cite=("src/money.ts::settle",))
    assert "src/money.ts:10-20" in refused.value.hint
    assert project.add("It retries", cite=("src/money.ts::RETRIES=3",)).action == "added"
    Path("src/money.py").write_text("# new\n" + REFORMATTED["src/money.py"])
    assert states(project) == {}
    change("src/money.py", lambda text: text.replace("as  agreed", "as agreed"))
    assert states(project) == {"src/money.py::settle": "changed"}
    Path("src/money.py").write_text("nothing\n")
    assert states(project) == {
        f"src/money.py::{name}": f"has no {name}" for name in ("settle", "Billing.settle")
    }


def test_contexts_and_searches_mark_symbols_and_ask_no_git(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.add("Orders are settled at the vendor's", cite=("src/money.py::settle",))
    project.add("Orders are settled thrice", cite=("src/money.py::RETRIES=3",))
    monkeypatch.setattr("subprocess.Popen", None)
    Path("src/money.py").write_text("# new\n" + REFORMATTED["src/money.py"])
    assert "stale" not in project.build_context("orders").text
    change("src/money.py", lambda text: text.replace("as  agreed", "as agreed"))
    assert "(stale: src/money.py::settle changed) Orders" in project.build_context("orders").text
    change("src/money.py", lambda text: text.replace("RETRIES", "TRIES").replace("ettle", "ubmit"))
    stale = sorted(hit.stale for hit in project.search("orders settled").hits)
    assert stale == [("src/money.py::RETRIES=3 gone",), ("src/money.py::settle gone",)]


def test_symbols_are_told_by_every_command(project: Project) -> None:
    memory = cited(project, "src/money.py::settle", "src/money.py::RETRIES=3")
    assert "src/money.py::settle, src/money.py::RETRIES=3" in pmem("show", memory.id).text
    assert '"symbol":"settle"' in pmem("list", "--json").text
    assert pmem("check", "records").code == 0
    assert pmem("check", "citations").code == 0
    change("src/money.py", lambda text: text.replace("as  agreed", "as agreed"))
    assert "changed src/money.py::settle" in pmem("check", "citations").text
    assert '"symbol":"settle"' in pmem("check", "citations", "--json").text
    assert pmem("edit", memory.id, "--uncite", "src/money.py::settle").code == 0
    assert (
        "citations: src/money.py::settle, src/money.py::RETRIES=3 → " in pmem("log", memory.id).text
    )
    assert pmem("check", "citations").code == 0


def test_the_secret_gate_sees_a_value(project: Project) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    Path("keys.py").write_text(f"KEY = {key!r}\n")
    done = pmem("add", "The key is in keys.py", "--cite", f"keys.py::KEY={key!r}")
    assert done.code == 7, done.said
    refused = pmem("add", "The key is in keys.py", "--cite", "keys.py::KEY=1")
    assert refused.code == 3
    assert key not in refused.said
    assert project.list().total == 0


@pytest.mark.parametrize(
    ("symbol", "state"),
    [
        ("settle", "changed"),
        ("nothing", "has no nothing"),
        ("RETRIES=7", "cited 7, the code says 3"),
        ("NOTHING=7", "has no NOTHING"),
        ("a b", "changed"),
        ("=", "changed"),
        ("", "changed"),
        ("x" * 10_000, "changed"),
        ("--exec=sh", "changed"),
        (".*", "changed"),
        ("\x01\n", "changed"),
    ],
)
def test_a_stranger_s_symbol_breaks_nothing(project: Project, symbol: str, state: str) -> None:
    memory = cited(project, "src/money.py::settle")
    planted = Citation(
        file="src/money.py", lines=(2, 3), symbol=symbol, digest="0" * 40, folded="f" * 48
    )
    workspace = project.workspace
    with workspace.transaction():
        kept = workspace.memories.get(memory.id)
        workspace.memories.put(msgspec.structs.replace(kept, citations=(planted,)))
    assert list(states(project).values()) == [state]
    assert project.verify(update=True).updated == 0
    assert "(stale: " in project.build_context().text
    assert pmem("show", memory.id).code == 0


def test_many_symbols_are_looked_for_by_one_question_to_git(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"def step_{n}():\n    return {n}\n\n\n" for n in range(60))
    Path("steps.py").write_text(text)
    cited(project, *(f"steps.py::step_{n}" for n in range(60)))
    change("steps.py", lambda text: text.replace("return ", "return 0 + "))
    asked = []
    real = function_lines

    def noting(wanted: Any, environment: Any) -> Any:
        asked.append(len(wanted))
        return real(wanted, environment)

    monkeypatch.setattr(symbols, "function_lines", noting)
    assert set(states(project).values()) == {"changed"}
    assert asked == [60]
    monkeypatch.setattr(symbols, "_AT_ONCE", 25)
    asked.clear()
    assert len(states(project)) == 60
    assert asked == [25, 25, 10]
