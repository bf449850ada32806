"""What a part of the check is asked, and what it reports."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from pmem.cli.session import Line
from pmem.core.findings import Finding


class CheckPart(StrEnum):
    """What can be checked."""

    RECORDS = "records"
    CITATIONS = "citations"
    DUE = "due"
    SECRETS = "secrets"
    SETUP = "setup"
    MERGES = "merges"


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of the command say; `named` is whether parts are named."""

    named: bool
    fix: bool
    accept: tuple[str, ...]
    within: str | None
    staged: bool
    history: bool
    range: str | None
    full: bool


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
