"""A journal of as many entries in jrnl, the nearest program that installs, beside pmem."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from tests.benchmarks.measure import Command

_CONFIGURATION: Final = """\
version: v{version}
journals:
  default: {journal}
colors: {{}}
editor: ""
encrypt: false
timeformat: "%Y-%m-%d %H:%M"
tagsymbols: "@"
default_hour: 9
default_minute: 0
linewrap: 79
highlight: false
indent_character: "|"
template: false
display_format: null
"""
_NUMBERS: Final = count()


def jrnl_lines(program: Path, folder: Path, texts: list[str]) -> dict[str, Callable[[], Command]]:
    """Return what is measured of jrnl, by name.

    Args:
        program: jrnl.
        folder: Where its journal is made.
        texts: The journal's entries.
    """
    folder.mkdir(exist_ok=True)
    journal, settings = folder / "journal.txt", folder / "jrnl.yaml"
    days = (f"[2025-{i // 28 % 12 + 1:02}-{i % 28 + 1:02} 09:00]" for i in range(len(texts)))
    entries = zip(days, texts, strict=True)
    journal.write_text("\n".join(f"{day} {text}\n" for day, text in entries), encoding="utf-8")
    settings.write_text(_CONFIGURATION.format(version="4.6", journal=journal), encoding="utf-8")
    start = (str(program), "--config-file", str(settings))
    return {
        "jrnl -n 20": lambda: (*start, "-n", "20"),
        "jrnl -contains": lambda: (*start, "-contains", "compresses webhooks", "-n", "20"),
        "jrnl (adds)": lambda: (*start, f"A new entry, number {os.getpid()} {next(_NUMBERS)}"),
    }
