"""Draws docs/terminal.svg: what a person notes, and what an assistant is shown at the file.

The commands are run in a new repository, and the picture has what they print; only the ids are
replaced, as they are new each time. `python -m docs.picture` writes it, a test compares it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).with_name("terminal.svg")
_FILE: Final = "src/billing/retry.py"
_WHY: Final = "The vendor blocked our key for an hour"
_TRIED: Final = (
    *("tried", "Raise the retries to 5", "--failed", _WHY),
    *("--worked", "Wait as long as Retry-After says", "--for", "src/billing/**"),
)
_IDS: Final = ("k3v9m2x1", "p7q2h4d8")
_COLUMNS: Final = 86
_WIDTH, _LINE, _TOP, _LEFT = 760, 20, 56, 24
_COLOURS: Final = {"$": "#e6edf3", "#": "#7d8590", " ": "#adbac7", "!": "#f0b72f"}
"""The colour of a line by its first character, which is not drawn."""

Lines = Iterator[str]


def main() -> None:
    """Write the picture."""
    PATH.write_text(drawn(), encoding="utf-8")


def drawn() -> str:
    """Return the picture as SVG."""
    lines = list(_lines())
    height = _TOP + _LINE * len(lines) + 14
    texts = "\n".join(
        f'<text x="{_LEFT}" y="{_TOP + _LINE * number + 8}" fill="{_COLOURS[line[:1] or " "]}">'
        f"{escape(line[1:])}</text>"
        for number, line in enumerate(lines)
    )
    dots = "".join(
        f'<circle cx="{24 + 20 * number}" cy="20" r="6" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">
<title>What failed is noted once, and shown to an assistant that opens the file</title>
<rect width="{_WIDTH}" height="{height}" rx="10" fill="#0d1117"/>
{dots}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5"
 xml:space="preserve">
{texts}
</g>
</svg>
"""


def _lines() -> Lines:
    """Yield what is drawn, line by line, each behind the character that says what it is."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        file = Path(folder, _FILE)
        file.parent.mkdir(parents=True)
        file.write_text("RETRIES = 3\n", encoding="utf-8")
        _run(folder, "init", "--quiet")
        added = _run(folder, *_TRIED)
        shown = _run(folder, "hook", "pre-tool", given=_opened(folder))
    ids = dict(zip(re.findall(r"^added (\w+)", added, re.MULTILINE), _IDS, strict=True))
    named = re.compile("|".join(ids))
    yield from _command()
    yield from _wrapped(" ", named.sub(lambda found: ids[found[0]], added), "  ")
    yield ""
    yield f"## later: an assistant opens {_FILE}, and is shown"
    yield ""
    text = json.loads(shown)["hookSpecificOutput"]["additionalContext"]
    yield from _wrapped("!", named.sub(lambda found: ids[found[0]], text), "  ")


def _command() -> Lines:
    """Yield the command line, an option on each line."""
    words = [f'"{word}"' if re.search(r"[ *]", word) else word for word in _TRIED]
    parts = re.split(r" (?=--)", f"$ pmem {' '.join(words)}")
    for number, part in enumerate(parts):
        goes_on = " \\" if part != parts[-1] else ""
        yield "$" + "      " * bool(number) + part + goes_on


def _wrapped(kind: str, text: str, indent: str) -> Lines:
    for line in text.splitlines():
        for part in textwrap.wrap(line, _COLUMNS, subsequent_indent=indent) or [""]:
            yield kind + part


def _opened(folder: str) -> str:
    """Return what an assistant tells its hooks when it is about to read the file."""
    call = {
        "hook_event_name": "PreToolUse", "session_id": "picture", "cwd": folder,
        "tool_name": "Read", "tool_input": {"file_path": f"{folder}/{_FILE}"},
    }  # fmt: skip
    return json.dumps(call)


def _run(folder: str, *words: str, given: str = "") -> str:
    """Run a command of pmem as ben, and return what it prints."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "pmem", *words],
        cwd=folder,
        input=given,
        env={**kept, "PMEM_ACTOR": "ben", "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    main()
