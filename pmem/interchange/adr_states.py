"""What a decision record says of its state, and of the record that takes its place.

People and tools write it in many ways: `Superseded by [5. Queue](0005-queue.md)` (adr-tools),
`status: "superseded by ADR-0005"` (MADR), `superseded by [20201029-queue](20201029-queue.md)`
(log4brains), ticked boxes, tables with a row for each change.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

_STATES: Final = {
    "superseded": r"super[sc]e+ded|replaced|obsoleted by|abgelöst|ersetzt|remplacée?",
    "rejected": r"rejected|declined|not (?:accepted|approved|adopted)|abgelehnt|verworfen",
    "deprecated": r"deprecated|retired|outdated|no longer (?:valid|in use)|inactive|veraltet",
    "withdrawn": r"withdrawn|obsolete|abandoned|cancell?ed|revoked|zurückgezogen",
    "draft": r"draft|wip|work in progress|entwurf",
    "proposed": r"propos(?:ed|al)|pending|(?:in|under) (?:review|discussion)|rfc|open|deferred"
    r"|postponed|on hold|todo|tbd|to be decided|vorgeschlagen",
    "accepted": r"accepted|approved|adopted|agreed|decided|active|current|implemented|in effect"
    r"|final|done|akzeptiert|angenommen|beschlossen|accepté|aceptad[ao]|vigente|aceito",
}
_WORD: Final = re.compile(
    "|".join(rf"(?P<{state}>\b(?:{words})\b)" for state, words in _STATES.items()), re.IGNORECASE
)
_GONE: Final = ("superseded", "deprecated", "withdrawn")
"""States that a record keeps, whatever it says of those before."""
_TAKEN: Final = ("accepted", "rejected")
UNFILLED: Final = "unfilled"
"""The state of a record that offers a choice of three states or more."""
UNKNOWN: Final = "unknown"
"""The state of a record whose own word for it means nothing here."""
_CHOICE: Final = 3
_BETWEEN: Final = re.compile(r"[|/{]|\b(?:or|etc)\b", re.IGNORECASE)

_UNTICKED: Final = re.compile(r"^\s*(?:[-*+] )?\[ \].*$", re.MULTILINE)
_STRUCK: Final = re.compile(r"~~.*?~~", re.DOTALL)
_IN_PART: Final = re.compile(r"\bpart(?:ial)?ly\s+super[sc]e+ded\b(?:\s+by\b)?", re.IGNORECASE)
_ARROW: Final = re.compile(r"->|=>|→|➔|➜|\n")
_LEAD: Final = re.compile(
    r"^(?:\W|\d|_|x\])*(?:(?:status|state|is|it is|this \w+ is|now)\b\W*)?", re.IGNORECASE
)
_BY: Final = re.compile(
    r"(?:super[sc]e+ded|replaced|obsoleted|abgelöst|ersetzt)\W+(?:by|durch|with)\b[\s:*_]*([^\n]*)",
    re.IGNORECASE,
)
_TAKES: Final = re.compile(
    r"\b(?:super[sc]e+des|replaces|ersetzt)\b[\s:*_]*([^\n]*)", re.IGNORECASE
)
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\(\s*<?([^()\s>]+)")
_NUMBER: Final = re.compile(
    r"(?:^\W*(?:decision|record|no\.?)?|\badr)[-_ #]*0*(\d{1,5})(?![\d-]*\d|\w)", re.IGNORECASE
)
_ORDINAL: Final = re.compile(
    r"^\[?(?:adr[-_ #]*)?\d{1,5}\]?(?:\s*[.:)]|\s[-–—])\s+|^\[?(?:adr[-_ #]*|0)\d{1,5}\]?(?:\s+|$)",
    re.IGNORECASE,
)
_IN_NAME: Final = re.compile(r"(?:adr[-_]?)?\d{1,5}(?=[-_.])(?!-\d\d-\d\d)", re.IGNORECASE)
_MARKS: Final = re.compile(r"[*_`~\[\]\"'“”‘’<>]|\s(?=\s)")


class RecordName(NamedTuple):
    """How one record names another: by its file, its number or its title, whichever it has.

    Attributes:
        text: As it is written.
        file: The name of a file without its suffix, in small letters.
        number: Its number.
        title: Its title, as `folded_title` gives it.
    """

    text: str
    file: str = ""
    number: int | None = None
    title: str = ""


def whole_status(told: str) -> str:
    """Return what a record tells of its state, where one that holds in part counts as accepted."""
    return _IN_PART.sub("accepted; see", told)


def state_of(told: str) -> str:
    """Return the state that a record tells; nothing where it tells none.

    Returns:
        One of accepted, superseded, deprecated, withdrawn, rejected, proposed and draft, UNFILLED,
        or UNKNOWN.
    """
    said = _STRUCK.sub("", _UNTICKED.sub("", told)).strip()
    found: list[str] = []
    for line in _ARROW.split(said):
        words = [str(word.lastgroup) for word in _WORD.finditer(line)]
        if len(set(words)) >= _CHOICE and _BETWEEN.search(line):
            return UNFILLED
        if re.search(r"\bsuper[sc]e+ded\b", line, re.IGNORECASE):
            found.append("superseded")
        elif words and (not found or _WORD.match(_LEAD.sub("", line))):
            found.append(words[0])
    for state in _GONE:
        if state in found:
            return state
    last = [state for state in found if state in _TAKEN][-1:] or found[-1:]
    return last[0] if last else UNKNOWN if re.search(r"\w", said) else ""


def successor_in(told: str) -> RecordName | None:
    """Return the record that takes the place of the one that tells this, where it names one."""
    return _read_name(_BY.search(told))


def predecessor_in(told: str) -> RecordName | None:
    """Return the record whose place the one takes that tells this, where it names one."""
    return _read_name(None if _BY.search(told) else _TAKES.search(told))


def bare_title(title: str) -> str:
    """Return a title without its number; a title that is only that stays."""
    return _ORDINAL.sub("", title).strip() or title


def folded_title(title: str) -> str:
    """Return a title without its number, in small letters and without marks, to compare it."""
    return bare_title(_MARKS.sub("", title)).strip(" .:;,()").casefold()


def number_of(title: str, name: str) -> int | None:
    """Return the number of a record by its title, else by its file's name."""
    found = _ORDINAL.match(title) or _IN_NAME.match(name)
    digits = re.search(r"\d+", found[0]) if found else None
    return int(digits[0]) if digits else None


def _read_name(found: re.Match[str] | None) -> RecordName | None:
    if found is None or not re.search(r"\w", found[1]):
        return None
    text = found[1].strip()
    link = _LINK.search(text)
    said = link[1] if link else re.split(r"[;,]|\.\s|\s\(|\bon \d", text)[0].strip(" .()")
    bare = _MARKS.sub("", said)
    target = unquote(link[2]).partition("#")[0] if link else bare
    number = _NUMBER.search(bare)
    return RecordName(
        text=bare,
        file=re.sub(r"\.\w+$", "", target.rpartition("/")[2]).casefold(),
        number=int(number[1]) if number else None,
        title=folded_title(said),
    )
