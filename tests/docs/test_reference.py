"""The generated pages say what the program does today."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from pmem.cli.commands import COMMANDS, GROUPS
from pmem.values.config import table

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """Load docs/generate.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    ["settings.md", "tuning.md", "commands.md", "types.md", "pmem.1", "reference.json"],
)
def test_a_generated_page_is_up_to_date(name: str, generate: ModuleType) -> None:
    fresh = {Path(path).name: (Path(path), text) for path, text in generate.pages().items()}
    path, text = fresh[name]
    committed = path.read_text(encoding="utf-8")
    assert committed == text.rstrip("\n") + "\n", "run `python docs/generate.py`"


def test_the_pages_name_every_setting_and_command() -> None:
    settings = "".join(
        (DOCS / name).read_text(encoding="utf-8") for name in ("settings.md", "tuning.md")
    )
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert [row.name for row in table() if settings.count(f"\n| `{row.name}` |") != 1] == []
    names = [
        *COMMANDS,
        *GROUPS,
        *(f"{group} {name}" for group in GROUPS for name in GROUPS[group][1]),
    ]
    assert [name for name in names if f"## pmem {name}\n" not in commands] == []
