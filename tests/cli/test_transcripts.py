"""Golden transcripts: every command's output, to the byte.

`UPDATE_TRANSCRIPTS=1 pytest tests/cli/test_transcripts.py` writes down what the commands
print now; read the difference before you keep it.
"""

import os
from pathlib import Path

import pytest

from pmem.cli.commands import COMMANDS, GROUPS
from tests.cli.shell import new_repository
from tests.cli.story import known_ids
from tests.cli.transcript import Session, parse, write

FOLDER = Path(__file__).parent / "transcripts"
FILES = sorted(FOLDER.glob("*.txt"))
REAL = "executable"
"""The transcript that goes through the installed program."""
UPDATE = bool(os.environ.get("UPDATE_TRANSCRIPTS"))


@pytest.mark.some(40)
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_transcript_comes_out_as_it_is_written(path: Path, tmp_path: Path) -> None:
    folder = new_repository(os.path.realpath(tmp_path / "work"))
    description, steps = parse(path.read_text(encoding="utf-8"))
    session = Session(folder, real=path.stem == REAL)
    with known_ids():
        replayed = write(description, [session.replay(step) for step in steps])
    if UPDATE:
        path.write_text(replayed, encoding="utf-8")
        return
    assert write(description, steps) == replayed


def test_every_command_has_a_transcript() -> None:
    names = [*COMMANDS, *(f"{group}-{name}" for group in GROUPS for name in GROUPS[group][1])]
    missing = set(names) - {path.stem for path in FILES}
    assert missing == set()
