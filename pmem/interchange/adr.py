"""Architecture decision records as values: those of Nygard, of MADR, and what is like them.

Sources: Michael Nygard, "Documenting Architecture Decisions" (2011), and MADR 4.0 (adr.github.io).

People and tools write a record's state in many ways: `Superseded by [5. Queue](0005-queue.md)`
(adr-tools), `status: "superseded by ADR-0005"` (MADR), `superseded by
[20201029-queue](20201029-queue.md)` (log4brains), ticked boxes, tables with a row for each change.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import unquote

from pmem.core.lines import shortened
from pmem.core.text.sentences import split_sentences
from pmem.core.text.terms import terms
from pmem.interchange import UnusedPart
from pmem.interchange.markdown import (
    MarkdownBlock,
    MarkdownFile,
    MarkdownKind,
    named,
    plain_text,
    read_markdown,
)
from pmem.interchange.rule_mood import is_binding

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
_STATE_WORD: Final = re.compile(
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
_SUPERSEDED_BY: Final = re.compile(
    r"(?:super[sc]e+ded|replaced|obsoleted|abgelöst|ersetzt)\W+(?:by|durch|with)\b[\s:*_]*([^\n]*)",
    re.IGNORECASE,
)
_SUPERSEDES: Final = re.compile(
    r"\b(?:super[sc]e+des|replaces|ersetzt)\b[\s:*_]*([^\n]*)", re.IGNORECASE
)
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\(\s*<?([^()\s>]+)")
_NUMBER: Final = re.compile(
    r"(?:^\W*(?:decision|record|no\.?)?|\badr)[-_ #]*0*(\d{1,5})(?![\d-]*\d|\w)", re.IGNORECASE
)
_TITLE_NUMBER: Final = re.compile(
    r"^\[?(?:adr[-_ #]*)?\d{1,5}\]?(?:\s*[.:)]|\s[-–—])\s+|^\[?(?:adr[-_ #]*|0)\d{1,5}\]?(?:\s+|$)",
    re.IGNORECASE,
)
_IN_NAME: Final = re.compile(r"(?:adr[-_]?)?\d{1,5}(?=[-_.])(?!-\d\d-\d\d)", re.IGNORECASE)
_NAME_MARKS: Final = re.compile(r"[*_`~\[\]\"'“”‘’<>]|\s(?=\s)")
_LONGEST: Final = 1500
"""Characters of what was decided."""
_LONGEST_REASON: Final = 360
"""Characters of why, and of what follows."""
_FIELD: Final = re.compile(r"[*_\s>-]{0,20}([A-Za-z][\w -]{2,18}?)[*_\s]{0,20}:(.*)")
_MARKS: Final = "*_ \t"
_IN_HEADING: Final = re.compile(r"(status|date)\s*(?::|\s[-–—]\s)\s*(\S.*)", re.IGNORECASE)
_IN_TITLE: Final = re.compile(r"[(\[]([^()\[\]]+)[)\]]")
_ORDINAL: Final = re.compile(r"^[\W\d_]+|[\W_]+$")
_DATE: Final = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")
_CHOSEN: Final = re.compile(r"chosen option\s*:?\s*[\"'“*]*([^\"'”*,]+)[\"'”*]*", re.IGNORECASE)
_OPTION: Final = re.compile(r"(?:option|alternative)\s+(\d{1,2})(?:\s*[-–—:.]\s+|$)")
_CODE: Final = re.compile(r"`[^`]*`")
_PLACEHOLDER: Final = re.compile(
    r"^[\W\d_]*(?:adr[-_ #]?\w*\W+)?[{\[<][^{}\[\]<>]*[}\]>]\W*$", re.IGNORECASE
)
_TEMPLATE: Final = re.compile(r"(?:^|[\W_])template(?:[\W_]|$)", re.IGNORECASE)
_NOTHING: Final = frozenset({"", "none", "null", "na", "no"})
_STATUS: Final = frozenset({"status", "state"})
_BY: Final = frozenset({"supersededby", "replacedby"})
_TAKES: Final = frozenset({"supersedes", "replaces"})
_FIELDS: Final = frozenset({*_STATUS, *_BY, *_TAKES, "date"})
_SECTIONS: Final = {
    heading: name
    for name, headings in {
        "status": ("status", "state"),
        "date": ("date",),
        "context": ("context", "context and problem statement", "kontext"),
        "decision": ("decision", "decision outcome", "entscheidung"),
        "consequences": (
            "consequences", "positive consequences", "negative consequences", "konsequenzen",
            "outcomes", "positive outcomes", "negative outcomes",
        ),
        "options": ("considered options", "options considered"),
        "alternatives": ("alternatives", "alternatives considered"),
        "rejected": ("rejected", "rejected options", "rejected alternatives"),
    }.items()
    for heading in headings
}  # fmt: skip
_WHOLE: Final = ("options", "alternatives", "rejected", "status", "date")
_ENDS: Final = (".", "!", "?", "。")
_SAID: Final = (MarkdownKind.PARAGRAPH, MarkdownKind.BULLET)
_SILENT: Final = (MarkdownKind.HEADING, MarkdownKind.COMMENT)


class RecordName(NamedTuple):
    """How one record names another: by its file, its number or its title, whichever it has.

    `file` has no suffix and small letters; `title` is as `folded_title` gives it.
    """

    text: str
    file: str = ""
    number: int | None = None
    title: str = ""


def state_of(told: str) -> str:
    """Return the state that a record tells; nothing where it tells none.

    Returns:
        One of accepted, superseded, deprecated, withdrawn, rejected, proposed and draft, UNFILLED,
        or UNKNOWN.
    """
    said = _STRUCK.sub("", _UNTICKED.sub("", told)).strip()
    found: list[str] = []
    for line in _ARROW.split(said):
        words = [str(word.lastgroup) for word in _STATE_WORD.finditer(line)]
        if len(set(words)) >= _CHOICE and _BETWEEN.search(line):
            return UNFILLED
        if re.search(r"\bsuper[sc]e+ded\b", line, re.IGNORECASE):
            found.append("superseded")
        elif words and (not found or _STATE_WORD.match(_LEAD.sub("", line))):
            found.append(words[0])
    for state in _GONE:
        if state in found:
            return state
    last = [state for state in found if state in _TAKEN][-1:] or found[-1:]
    return (last or [UNKNOWN if re.search(r"\w", said) else ""])[0]


def bare_title(title: str) -> str:
    """Return a title without its number; a title that is only that stays."""
    return _TITLE_NUMBER.sub("", title).strip() or title


def folded_title(title: str) -> str:
    """Return a title without its number, in small letters and without marks, to compare it."""
    return bare_title(_NAME_MARKS.sub("", title)).strip(" .:;,()").casefold()


def number_of(title: str, name: str) -> int | None:
    """Return the number of a record by its title, else by its file's name."""
    found = _TITLE_NUMBER.match(title) or _IN_NAME.match(name)
    digits = re.search(r"\d+", found[0]) if found else None
    return int(digits[0]) if digits else None


def _read_name(found: re.Match[str] | None) -> RecordName | None:
    if found is None or not re.search(r"\w", found[1]):
        return None
    text = found[1].strip()
    link = _LINK.search(text)
    said = link[1] if link else re.split(r"[;,]|\.\s|\s\(|\bon \d", text)[0].strip(" .()")
    bare = _NAME_MARKS.sub("", said)
    target = unquote(link[2]).partition("#")[0] if link else bare
    number = _NUMBER.search(bare)
    return RecordName(
        text=bare,
        file=re.sub(r"\.\w+$", "", target.rpartition("/")[2]).casefold(),
        number=int(number[1]) if number else None,
        title=folded_title(said),
    )


class DecisionRecord(NamedTuple):
    """A decision as its file tells it.

    `state` is what `state_of` makes of what it `told` itself. `context` and `consequences` are a
    sentence or two, `decision` as much of each paragraph and entry of a list as has room. `lines`
    are the first and the last of the section that says it, counted from one. `rejected` are the
    options that were not chosen.
    """

    number: int | None
    title: str
    state: str
    told: str
    day: date | None
    context: str
    decision: str
    consequences: str
    lines: tuple[int, int]
    rejected: tuple[str, ...]
    superseded_by: RecordName | None
    supersedes: RecordName | None
    left_out: tuple[UnusedPart, ...]

    @property
    def why_not(self) -> str:
        """Why it is no decision that holds, to be read after its name; empty where it is one."""
        if self.state == UNFILLED:
            return "offers several states and has none"
        if self.state == UNKNOWN:
            return f"has a status that is not known: {self.told}"
        if self.state in ("", "accepted", "superseded"):
            return ""
        return "is a draft" if self.state == "draft" else f"is {self.state}"


class _Section(NamedTuple):
    name: str
    start: int
    level: int
    blocks: list[MarkdownBlock]


def read_decision(file: str, text: str) -> DecisionRecord | str:
    """Read a decision record, or return why a file is none, to be read after its name."""
    name = file.rpartition("/")[2]
    found = read_markdown(text)
    if not found.front.is_readable:
        return f"has front matter in lines 1-{found.front.lines} that is no YAML"
    title, sections = _sections(found, name)
    by_name = {section.name: section for section in reversed(sections)}
    decided = by_name.get("decision")
    said, used = _fitted(decided.blocks if decided is not None else (), _LONGEST)
    if _TEMPLATE.search(name) or _PLACEHOLDER.match(title):
        return "is a template"
    told, when = _status_and_date(found, sections, title)
    state, by = state_of(told), _SUPERSEDED_BY.search(told)
    if decided is None or not said:
        is_over = state not in ("", "accepted", UNFILLED, UNKNOWN)
        return f"is {state}" if is_over else "has no section Decision with text in it"
    decision, rejected = _choice(by_name, bare_title(title), said)
    context, of_context = _reason(sections, "context")
    follows, of_follows = _reason(sections, "consequences")
    used |= of_context | of_follows
    for whole in _WHOLE:
        used |= dict.fromkeys(by_name[whole].blocks if whole in by_name else (), True)
    return DecisionRecord(
        number=number_of(title, name),
        title=plain_text(bare_title(title)),
        state=state,
        told=" ".join(told.split()),
        day=_day(when) or (_day(told) if state == "accepted" else None) or _day(name),
        context=context,
        decision=decision,
        consequences=follows,
        lines=(decided.start, max((one.lines[1] for one in decided.blocks), default=decided.start)),
        rejected=rejected,
        superseded_by=_read_name(by),
        supersedes=_read_name(None if by else _SUPERSEDES.search(told)),
        left_out=tuple(_left_out(file, found, used)),
    )


def _sections(found: MarkdownFile, name: str) -> tuple[str, list[_Section]]:
    """Return the title, and the sections; one without a name is what comes before the first."""
    title = next(iter(found.front.texts("title")), "")
    sections = [_Section("", 0, 0, [])]
    for block in found.blocks:
        if block.kind is not MarkdownKind.HEADING:
            sections[-1].blocks.append(block)
            continue
        words = block.text.casefold()
        known = _SECTIONS.get(_ORDINAL.sub("", words), "")
        known = "decision" if block.level > 1 and words == "decisions" else known
        if not known and _IN_HEADING.match(words):
            known = "status" if words.startswith("status") else "date"
        if not known and not title:
            title = " ".join(block.text.split())
        elif known or block.level <= sections[-1].level or not sections[-1].name:
            sections.append(_Section(known, block.lines[0], block.level, []))
        else:
            sections[-1].blocks.append(block)
    return title or re.sub(r"[-_]", " ", name.rpartition(".")[0]), sections


def _status_and_date(
    found: MarkdownFile, sections: Sequence[_Section], title: str
) -> tuple[str, str]:
    """Return what a record says of its state, line by line, and of its date."""
    told: list[str] = []
    when: list[str] = []
    front = [(key, value) for key in sorted(_FIELDS) for value in found.front.texts(key)]
    for key, value in [*front, *_headings(found), *_fields(sections)]:
        is_nothing = re.sub(r"\W", "", value).casefold() in _NOTHING
        if key == "date":
            when.append(value)
        elif key in _STATUS:
            told.append(value)
        elif not is_nothing:
            told.append(f"{'Superseded by' if key in _BY else 'Supersedes'} {value}")
    for section in sections:
        if section.name == "status" and section.blocks:
            told += [_plain(block) for block in section.blocks if block.kind not in _SILENT]
        elif section.name == "date":
            when += [_plain(block) for block in section.blocks]
    if not told:
        told = [one for one in _IN_TITLE.findall(title) if state_of(one) not in ("", UNKNOWN)]
    whole = _IN_PART.sub("accepted; see", "\n".join(told))  # what holds in part is in force
    return whole, "\n".join(when)


def _headings(found: MarkdownFile) -> Iterator[tuple[str, str]]:
    for block in found.blocks:
        if block.level and (field := _IN_HEADING.match(block.text)):
            yield field[1].casefold(), field[2]


def _fields(sections: Sequence[_Section]) -> Iterator[tuple[str, str]]:
    """Yield the fields before the first section that says something of the decision itself."""
    for section in sections:
        if section.name not in ("", "status", "date"):
            return
        for block in section.blocks:
            if block.kind is MarkdownKind.TABLE:
                yield from _cells(block.rows)
            elif block.kind not in (MarkdownKind.CODE, MarkdownKind.COMMENT):
                for one in map(_FIELD.match, block.text.split("\n")):
                    if one is not None and _is_field(one[1]):
                        yield named(one[1]), one[2].strip(_MARKS)


def _cells(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a table: a name, and the cell right of it, or below it in its column."""
    for at, row in enumerate(rows):
        for place, cell in enumerate(row):
            if not _is_field(cell):
                continue
            right = row[place + 1] if place + 1 < len(row) else ""
            below = rows[at + 1][place] if at + 1 < len(rows) else ""
            is_column = not right or any(map(_is_field, row[place + 1 :]))
            yield named(_ORDINAL.sub("", cell)), below if is_column and below else right


def _is_field(text: str) -> bool:
    return named(_ORDINAL.sub("", text)) in _FIELDS


def _plain(block: MarkdownBlock) -> str:
    return "\n".join(cell for row in block.rows for cell in row) or block.text


def _day(text: str) -> date | None:
    for found in _DATE.finditer(text):
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            continue
    return None


def _fitted(
    blocks: Iterable[MarkdownBlock], most: int, rank: Callable[[int], int] = abs
) -> tuple[str, dict[MarkdownBlock, bool]]:
    """Return what paragraphs and entries of lists say, on one line: as many sentences as fit.

    They have `most` characters, or one sentence that has more: the first sentence of what ranks
    first, then what binds, then the first sentence of each, by the rank of its place, and so on.

    Returns:
        What they say; and for each of which something is in it, whether that is all.
    """
    parts = {one: split_sentences(plain_text(one.text)) for one in blocks if one.kind in _SAID}
    texts = list(parts.values())
    every = sorted(
        (0 if n == rank(at) == 0 else 2 - is_binding(text), n, rank(at), at, text)
        for at, part in enumerate(texts)
        for n, text in enumerate(part)
    )
    told: list[set[int]] = [set() for _ in parts]
    left = most
    for turn, n, _, at, text in every:
        goes_on = turn < 2 or n == 0 or n - 1 in told[at]
        if goes_on and (len(text) < left or not any(told)):
            told[at].add(n)
            left -= len(text) + 1
    said = [[text for n, text in enumerate(part) if n in told[at]] for at, part in enumerate(texts)]
    last = next(filter(None, reversed(said)), [])
    if last and last[-1].endswith(":") and sum(map(len, said)) > 1:
        last.pop()
    used = {block: said[at] == part for at, (block, part) in enumerate(parts.items()) if said[at]}
    return shortened(_on_one_line(used, filter(None, said)), 2 * most), used


def _on_one_line(blocks: Iterable[MarkdownBlock], told: Iterable[Sequence[str]]) -> str:
    """Return what is told of each block; entries of a list with a semicolon between them."""
    said = [" ".join(some).rstrip(";") for some in told]
    are_entries = pairwise([*(one.kind is MarkdownKind.BULLET for one in blocks), False])
    between = [
        "; " if all(entries) and not text.endswith(_ENDS) else " "
        for text, entries in zip(said, are_entries, strict=True)
    ]
    return "".join(text + sign for text, sign in zip(said, between, strict=True)).strip()


def _reason(sections: Sequence[_Section], name: str) -> tuple[str, dict[MarkdownBlock, bool]]:
    """Return what the sections of a name say in short: the ends of it before what is between.

    A context begins with where things stood and ends with the problem; good consequences come
    before bad ones.
    """
    blocks = [block for one in sections if one.name == name for block in one.blocks]
    told = [one for one in blocks if "{{" not in _CODE.sub("", one.text)]
    told = [one for one in told if one.kind in _SAID]
    return _fitted(told, _LONGEST_REASON, lambda place: min(place, len(told) - 1 - place))


def _choice(
    sections: Mapping[str, _Section], title: str, decision: str
) -> tuple[str, tuple[str, ...]]:
    """Return what was decided, with the text of an option that it names by number; and the rest.

    The rest are the options of which it is sure that they were not chosen, and alternatives that
    are not what the record is about.
    """
    found = _CHOSEN.search(decision)
    order = ("rejected", "options") if found else ("rejected", "alternatives", "options")
    name = next((one for one in order if one in sections), "")
    options = _options(sections[name].blocks) if name else []
    if name == "alternatives":
        about = title.strip().casefold()
        options = [one for one in options if not any(x in about for x in _names(one))]
    if name != "options":
        return decision, tuple(options)
    chosen = (found[1] if found else title).strip().casefold()
    number, bare = _OPTION.match(chosen), _OPTION.sub("", chosen)
    named = [one for one in options if any(x.startswith(bare or chosen) for x in _names(one))]
    if number and not bare and not named and 0 < int(number[1]) <= len(options):
        named = [options[int(number[1]) - 1]]
        end = found.end(1) if found else 0
        decision = f"{decision[:end]} ({named[0]}){decision[end:]}"
    if named:
        return decision, tuple(one for one in options if one not in named)
    first = split_sentences(bare if found else decision)[:1]
    return decision, tuple(_far_from(" ".join([*first, "" if found else title]), options))


def _options(blocks: Sequence[MarkdownBlock]) -> list[str]:
    has_own = any(block.kind is MarkdownKind.HEADING for block in blocks[:1])
    kind = MarkdownKind.HEADING if has_own else MarkdownKind.BULLET
    return [plain_text(one.text.split("\n\n")[0]) for one in blocks if one.kind is kind]


def _names(option: str) -> tuple[str, ...]:
    """Return what an option may be called: "Option 1: PostgreSQL", and what is around the colon."""
    whole = option.casefold()
    return (whole, _OPTION.sub("", whole), *whole.split(": ", 1))


def _far_from(taken: str, options: Sequence[str]) -> Iterator[str]:
    """Yield the options that have no word of their own in a text; none if all are as near to it."""
    words = set(terms(taken))
    held = [set(terms(one)) for one in options]
    shares = [len(words & one) for one in held]
    most = max(shares, default=0)
    if shares.count(most) != 1:
        return
    for place, one in enumerate(options):
        others = set[str]().union(*(held[:place] + held[place + 1 :]))
        if shares[place] < most and words.isdisjoint(held[place] - others):
            yield one


def _left_out(
    file: str, found: MarkdownFile, used: Mapping[MarkdownBlock, bool]
) -> Iterator[UnusedPart]:
    """Yield the blocks that are in no part of a record, and those of which only a part is."""
    for block in found.blocks:
        if block in used and not used[block]:
            yield UnusedPart(file, f"shortened {block.kind}", block.lines)
        elif block not in used and block.kind not in _SILENT and not _has_field(block):
            yield UnusedPart(file, block.kind, block.lines)


def _has_field(block: MarkdownBlock) -> bool:
    lines = map(_FIELD.match, block.text.split("\n"))
    return any(one is not None and _is_field(one[1]) for one in lines) or any(
        _is_field(cell) for row in block.rows for cell in row
    )
