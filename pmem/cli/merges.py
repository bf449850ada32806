"""What `check --merges` answers."""

from pmem import merges
from pmem.cli.session import Answer, Session


def answer(session: Session, revisions: str) -> Answer:
    """Redo the merges between two git revisions; see `merges.check_merges`."""
    checked = merges.check_merges(session.workspace, revisions)
    count = len(checked.findings)
    counts = f"{checked.merges} merge{'s' * (checked.merges != 1)}, "
    found = (f"{count} finding{'s' * (count != 1)}", "red" if count else "green")
    return Answer(
        data=checked,
        lines=[
            *([(f"{item.code}: ", "red"), (item.message, "")] for item in checked.findings),
            [(counts, ""), found],
        ],
        exit_code=1 if count else 0,
    )
