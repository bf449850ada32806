"""A shop's history: forty edits of Python, TypeScript and Go, and what a reader says of each."""

import tomllib
from pathlib import Path
from typing import Final

from pmem.values.records import MemoryType
from tests.histories.steps import Remembered, parse_steps

_SHOP: Final = Path(__file__).with_name("shop_files")
FILES: Final = {
    path.relative_to(_SHOP).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(_SHOP.rglob("*.txt"))
}
"""The files with which the history begins, in three languages."""

MEMORIES: Final = {
    name: Remembered(**{**fields, "type": MemoryType(fields["type"])})
    for name, fields in tomllib.loads((_SHOP / "memories.toml").read_text("utf-8")).items()
}
"""What is remembered, by a name for each; the last three apply to files, and rest on nothing."""

STEPS: Final = parse_steps((_SHOP / "steps.diff").read_bytes())
"""What happens, one commit each."""
