"""What a part of the check is asked, and what it reports."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from pmem.cli.session import Line
from pmem.core.findings import Finding
from pmem.values.fields import asked

Format = Literal["text", "github", "gitlab"]


class CheckPart(StrEnum):
    """What can be checked."""

    RECORDS = "records"
    CITATIONS = "citations"
    DUE = "due"
    SECRETS = "secrets"
    SETUP = "setup"
    MERGES = "merges"


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command is asked."""

    parts: Annotated[
        tuple[CheckPart, ...],
        asked("Check only this, and print all of it.", shown="PART...", is_argument=True),
    ] = ()
    fix: Annotated[bool, asked("Update citations of code that moved; fix the setup.")] = False
    accept: Annotated[
        tuple[str, ...],
        asked("It is still right: cite the text as it is.", shown="REF", completes="memory"),
    ] = ()
    within: Annotated[
        str | None, asked("Also what is due within this time, such as 2w.", shown="TIME")
    ] = None
    staged: Annotated[bool, asked("Only what is staged for the next commit.")] = False
    history: Annotated[bool, asked("Look for secrets in every version that git has.")] = False
    range: Annotated[
        str | None, asked("Redo the merges between two git revisions.", shown="A..B")
    ] = None
    full: Annotated[bool, asked("Check unchanged records too.")] = False
    strict: Annotated[bool, asked("Fail on warnings too.")] = False
    format: Annotated[Format, asked("For people, or for the CI of GitHub or GitLab.")] = "text"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What one part found.

    `summary` is a few words for its line among other parts, `problems` the lines of each problem
    below them. `lines` and `note` are printed where the part is alone. `found` is what a CI reads.
    `exit_code` is that of the error which kept the part from being checked.
    """

    data: object
    summary: str
    problems: Sequence[Sequence[Line]] = ()
    lines: Iterable[Line] = ()
    note: str = ""
    errors: int = 0
    warnings: int = 0
    found: Sequence[Finding] = ()
    is_fixable: bool = False
    exit_code: int = 0
