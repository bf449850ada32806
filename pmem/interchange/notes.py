"""Instruction files of assistants (CLAUDE.md, AGENTS.md, rules): what they say, rule by rule.

A rule is what can be understood by itself, below its heading:

    an entry of a list, with all below it       a numbered list, its steps together
    a list below a sentence that leads to it    a list that says what names stand for
    the commands of a code block                the rows of a table
    a paragraph that tells what to do, or states a decision

What is too long together is taken one by one. The nearest heading is the subject, with what is
above it where it is one word; all headings above are the tags.

Where the rules apply, the front matter says: Copilot has `applyTo`, Cursor, Windsurf and Continue
`globs`, Claude Code and Cline `paths`, Kiro `fileMatchPattern`: one pattern, several with commas
between them, or a list. They are relative to the folder that has the program's own folder in it,
like `.cursor/`. Instructions in any other folder, like `web/AGENTS.md`, apply to what is in that
folder.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, islice
from typing import Final, NamedTuple

from pmem.core.places import MOST_PLACES, check_places, exact_place
from pmem.errors import InvalidValue
from pmem.interchange import UnusedPart
from pmem.interchange.markdown import (
    LONGEST,
    FrontMatter,
    MarkdownBlock,
    MarkdownKind,
    plain_text,
    read_markdown,
    with_targets,
)
from pmem.interchange.rule_mood import (
    forbids,
    is_binding,
    is_order,
    is_placeholder,
    is_statement,
    is_sure_order,
    sentences,
    type_of,
)
from pmem.interchange.rule_units import (
    POINTS,
    TASK,
    Said,
    is_import,
    is_link,
    prose,
    units_in,
)
from pmem.values.records import MemoryType

_NAME: Final = re.compile(
    r"(`)?((?=[\w*.-]*(?:/|\.\w))/?[\w.*-]+(?:/[\w.*-]+)*/?(?<!\.))"
    r"(?(1)(?::\d+(?:-\d+)?)?`|(?=[\s.,;:)]|\Z))"
)
"""A file, a folder or a pattern, in back quotes, where lines of it may follow, or without."""
_ALSO: Final = re.compile(r",? (?:and |or |[+&] )?")
_MOST_ABOUT: Final = 10
_GAP: Final = (
    r"(?:(?!(?:a[st]|and|are|be|but|by|can|do|for|from|ha[sd]|have|how|if|is|it|like|may|must|not|on"
    r"|or|should|so|than|that|them|then|th[ei]se|they|to|unless|until|using|via|was|were|wh\w+"
    r"|with|without)\b)[\w-]+ ){0,8}(?:to (?:\w+ )?)?\(?"
)
"""Words between a verb and the file that it is about; none opens another part of a sentence."""
_CHANGE: Final = (
    r"(?:(?:edit|modif|chang|touch|updat|renam|mov|remov|delet|(?:over)?writ|(?:re)?format|add"
    r"|creat|refactor|extend|review)(?:e|y|y?ing)?|mak(?:e|ing) (?:\w+ )?changes to"
    r"|work(?:ing)? (?:on|in|with)) "
)
_DONE: Final = r"be (?:run|used|called|imported|updated)\b"
_WITHIN: Final = r"(?:in|under|within|inside|below) (?:the )?(?:\w+ )?"
_OPENS: Final = re.compile(rf"(?:{_WITHIN}|the )?(?=`)", re.IGNORECASE)
_ASKED: Final = re.compile(
    rf"(?: files?)? (?:must|should|shall) (?:{_DONE}|have|list|mention|name|pass)"
    r"| (?:is|are) (?:git-?)?ignored",
    re.IGNORECASE,
)
_ANYWHERE: Final = re.compile(r" (?:files? )?in (?:any|all|every|each)\b", re.IGNORECASE)
_FORMS: Final = (
    # every X ...; *.x ...; never edit X; when changing X, ...; changes to X ...
    (r"\A(?:(?:any|all|every|each) (?:\w+ )?|(?:the )?(?=`[^`]*\*))", ""),
    (
        r"(?:\A|[:,(–—-] |\b(?:and|but|you) )(?:never|do not|don['’]t|must not|should not"
        rf"|avoid)(?: ever| \w+ly)? {_CHANGE}{_GAP}",
        "",
    ),
    (rf"\b(?:when|whenever|if|before|after|while|once)(?: you)? {_CHANGE}{_GAP}", ""),
    (rf"\A(?:(?:for|on|after|any|all|every) )*(?:changes?|edits?|additions?) to {_GAP}", ""),
    # keep names short in all *.x
    (rf"\A(?!{_CHANGE}).*\bin (?:all|every|each) (?:\w+ )?(?=`[^`]*\*)", ""),
    # parts in X must ...; any X -> `command`
    (
        rf"\A{_GAP}{_WITHIN}",
        rf" (?:(?:must|should|shall|may|can|cannot|never|always)\b(?! {_DONE})|(?:→|->|=>) )",
    ),
    (rf"\A{_GAP}", r"[^`→>]{0,40} (?:→|->|=>) .*`"),
)
_TOLD_FORMS: Final = (
    # parts in X are ...; the core: X/; parts (X, Y) are ...
    (rf"\A{_GAP}{_WITHIN}", " [a-z]"),
    (r"\A[^`:.]{2,60}: ", r"(?<=/`)\W*\Z"),
    (rf"\A{_GAP}\(", r"\)(?! (?:and|or)\b)"),
)
"""How a sentence that gives no order says what it is about."""
_HOME: Final = re.compile(
    r"\W*(?:(?P<section>(?:location|path|directory|folder)s?:|(?:located|lives?) (?:in|at|under))"
    r"|[^`.:]{1,40}\((?=`[^`]*`\)\W*\Z))\W*`(?P<name>[\w.-]+(?:/[\w.-]+)*/?)(?=`|\{|<)",
    re.IGNORECASE,
)
"""What says where all is that comes next: "Location: `src/parts/{Name}/`", "Models (`db/`)"."""
_LINE_OF_CODE: Final = re.compile(r"`([^`\n]*\w [^`\n]*)`")
_CLAUSE: Final = re.compile(r" [-–—] |; ")
_FIRST: Final = re.compile(r"(?<=[.!?]) |; ")
_BACK: Final = re.compile(r"\b(?:it|them|they|this|these)\b", re.IGNORECASE)
_ON_FILE: Final = re.compile(r"\b(?:it|them|they|this|these|here|below|following)\b", re.IGNORECASE)
_FOLDER: Final = re.compile(r"`[^`\s]*/[^`\s]*`")
_PLEASE: Final = re.compile(r"\bplease\b", re.IGNORECASE)
_FORBIDS: Final = re.compile(
    r"\W*(?:must not|do not|don['’]ts?|never|avoid)(?: \w+)?\W*", re.IGNORECASE
)
_VALUE: Final = re.compile(r"[^`:.]{2,60}: \S")
_ITSELF: Final = re.compile(
    r"(?:This|These) (?:[\w.-]+ ){0,2}?(?:documents?|files?|guides?|guidelines|instructions|notes|"
    r"pages?|rules|sections?)\b"
)
_FILE: Final = re.compile(r"[\w.-]+\.\w+")
_NO_TAG: Final = re.compile(r"[^\w]+")
_NUMBER: Final = re.compile(r"\A(?:\d+[.)]\s*)+")
_PAIR: Final = 2
_MOST_TAG: Final = 40
_MOST_SUBJECT: Final = 80


_KEYS: Final = ("applyto", "globs", "glob", "paths", "path", "filematchpattern")
_EVERYWHERE: Final = frozenset({"*", "**", "**/*", "/**", "./**"})
_MODES: Final = ("trigger", "inclusion")
_BY_FILE: Final = frozenset({"glob", "filematch"})
_NAMES: Final = re.compile(
    r"(?:AGENTS?|CLAUDE|GEMINI|QWEN|CRUSH|WARP)(?:\.\w+)?\.md|copilot-instructions\.md"
    r"|\.(?:cursor|windsurf|cline)rules|.+\.(?:instructions\.md|mdc)",
    re.IGNORECASE,
)
_FOLDERS: Final = re.compile(
    r"(?:^|/)(?:\.[\w-]+/(?:rules|instructions|steering|guidelines)(?:-\w+)?|\.clinerules)/"
)
_CONTRIBUTING: Final = re.compile(r"(?:\.github/|docs/)?CONTRIBUTING\.md", re.IGNORECASE)
_OWN: Final = re.compile(r"\.local\.md\Z", re.IGNORECASE)
_PAGE: Final = re.compile(r"[a-z]+\.md")
_LONGEST: Final = 1000
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Note(NamedTuple):
    """A rule, on one line and without marks.

    `tags` are the headings above it, the outermost first, `subject` is the nearest, after the one
    above where it is one word; none where that is the file's title. `about` are the files, folders
    and patterns that it is about, `below` those that its section or the nearest heading names.
    """

    text: str
    tags: tuple[str, ...]
    lines: tuple[int, int]
    subject: str | None
    type: MemoryType
    about: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


class NotesFile(NamedTuple):
    """The notes of a file in their order, all else but headings, and where they apply."""

    notes: tuple[Note, ...]
    left_out: tuple[UnusedPart, ...]
    places: tuple[str, ...]


def read_notes(file: str, text: str, project: str = "") -> NotesFile:
    """Read an instruction file.

    `file` is relative to the memory's project, with slashes; `project` is that project's path from
    the project root, where it is a part of it.
    """
    found = read_markdown(text)
    if not found.front.is_readable:
        raise InvalidValue(f"has front matter in lines 1-{found.front.lines} that is no YAML")
    place = f"{project}/{file}" if project else file
    places = scope_of(place, found.front)
    titles = [block for block in found.blocks if block.level == 1]
    title = titles[0].text if len(titles) == 1 else None
    notes: list[Note] = []
    left_out: list[UnusedPart] = []
    is_theirs = is_instructions(file)
    is_of_all = not (places and is_theirs and not found.front.lines)
    has_parts = is_of_all and any(block.level and block.text != title for block in found.blocks)
    homes = _homes(found.blocks)
    for said in units_in([_with_targets(block) for block in found.blocks]):
        is_opening = said.blocks[0].headings in ((), (title,))
        is_body = is_theirs and not (has_parts and is_opening and not _names_folder(said))
        is_unsure = is_opening and said.type is None and not is_sure_order(said.text)
        told = _description(said) if is_body and (is_unsure or not said.text) else said
        told = _without_itself(told) if is_opening or told is not said else told
        if is_opening and has_parts and _is_prose(told):
            told = _orders_of(told)
        is_said = bool(told.text) and not is_placeholder(told.text)
        is_code = told.type is MemoryType.FACT and told.blocks[0].kind is MarkdownKind.CODE
        if is_said and not (is_opening and is_code):
            is_topic = bool(places or found.front.lines)
            note = _note(told, title, found.front.texts("description")[:1], is_topic)
            home = homes.get(told.blocks[-1].lines[0], ())
            notes.append(note._replace(below=home or note.below))
        else:
            left_out += (UnusedPart(file, _name_of(one), one.lines) for one in said.blocks)
    return NotesFile(tuple(notes), tuple(left_out), places)


def _with_targets(block: MarkdownBlock) -> MarkdownBlock:
    if block.kind is MarkdownKind.PARAGRAPH and (line := _LINE_OF_CODE.fullmatch(block.text)):
        return block._replace(kind=MarkdownKind.CODE, text=line[1])
    is_text = block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.BULLET, MarkdownKind.QUOTE)
    return block._replace(text=with_targets(block.text)) if is_text else block


def _homes(blocks: Sequence[MarkdownBlock]) -> dict[int, tuple[str, ...]]:
    """Return by the first line of each block the folder or file that is said to have it all.

    What a section says holds up to the next heading, what stands above a list for this list.
    """
    homes: dict[int, tuple[str, ...]] = {}
    home: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    is_lead = False
    for block in blocks:
        found = None if block.level else _HOME.match(block.text)
        goes_on = block.kind is MarkdownKind.BULLET or not is_lead
        if found and (found["section"] or block.kind is MarkdownKind.PARAGRAPH):
            home, section, is_lead = (found["name"],), block.headings, not found["section"]
        elif block.headings != section or not goes_on:
            home = ()
        homes[block.lines[0]] = home
    return homes


def _note(said: Said, title: str | None, description: Sequence[str], is_topic: bool) -> Note:
    headings = said.blocks[0].headings
    tags = map(tag_of, (*description, *headings))
    nearest = headings[-1] if headings and headings != (title,) else "".join(description)
    if _FORBIDS.fullmatch(nearest) and not forbids(said.text):
        said = said._replace(text=f"{nearest.rstrip(':')}: {said.text}", type=MemoryType.CONSTRAINT)
    subject = _bare(nearest)[:_MOST_SUBJECT]
    above = headings[-_PAIR] if len(headings) >= _PAIR else ""
    is_known = above == title and (not is_topic or _FILE.fullmatch(above))
    if " " not in subject and above and not is_known:
        subject = f"{_bare(above)[: _MOST_SUBJECT - len(subject) - 2]}: {subject}"
    lines = min(one.lines[0] for one in said.blocks), max(one.lines[1] for one in said.blocks)
    type_ = said.type or type_of(said.text)
    tags_ = tuple(dict.fromkeys(filter(None, tags)))
    parts = reversed(headings[headings[:1] == (title,) :])
    below = ([one[2] for one in _NAME.finditer(heading)] for heading in parts)
    return Note(
        said.text,
        tags_,
        lines,
        subject or None,
        type_,
        said.about or _about(said, type_),
        tuple(next(filter(None, below), ())),
    )


def _about(said: Said, type_: MemoryType) -> tuple[str, ...]:
    """Return the files, folders and patterns that a rule is about, by where it names them.

    That is at its beginning, in its first sentence as what is not to be changed or when what is
    asked of it counts, and before an arrow. A list has the sentence above it.
    """
    block, *more = said.blocks
    leads = block.kind is MarkdownKind.PARAGRAPH and bool(more)
    if block.kind is MarkdownKind.TABLE or (more and more[0].kind is block.kind):
        return ()
    sentence = _FIRST.split(plain_text(block.text) if leads else said.text, maxsplit=1)[0]
    opens = None if more or type_ is MemoryType.PROCEDURE else _OPENS.match(sentence)
    names, end = _names(sentence, opens.end()) if opens is not None else ((), 0)
    if names and _tells_of(said.text, sentence, end, type_):
        others = (_names(one, 0)[0] for one in _FIRST.split(said.text)[1:] if one[:1] == "`")
        return (*names, *chain.from_iterable(others)) if type_ is MemoryType.FACT else names
    clause = _CLAUSE.split(sentence)[0]
    is_told = type_ is not MemoryType.PROCEDURE and not is_order(clause)
    return _named_by(_FORMS, sentence) or (_named_by(_TOLD_FORMS, clause) if is_told else ())


def _named_by(forms: tuple[tuple[str, str], ...], sentence: str) -> tuple[str, ...]:
    for opening, goes_on in _compiled(forms):
        for found in opening.finditer(sentence):
            names, end = _names(sentence, found.end())
            if names and goes_on.match(sentence, end):
                return names
    return ()


@cache
def _compiled(forms: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    return [(re.compile(one, re.IGNORECASE), re.compile(on, re.IGNORECASE)) for one, on in forms]


def _tells_of(text: str, sentence: str, end: int, type_: MemoryType) -> bool:
    """Tell whether a sentence that begins with a file is about this, and not about all work.

    What is asked of all work only begins with the file that shows it: "`CHANGELOG.md` has a line".
    """
    is_asked = type_ is MemoryType.CONSTRAINT and not is_order(sentence)
    is_back = _BACK.search(text.removeprefix(sentence)) is not None
    return (is_back or not is_asked) and not _ASKED.match(sentence, end)


def _names(sentence: str, start: int) -> tuple[tuple[str, ...], int]:
    """Return the files, folders and patterns that are named one after the other, and the end."""
    names: list[str] = []
    found, end = _NAME.match(sentence, start), start
    while found is not None and len(names) < _MOST_ABOUT:
        names.append(found[2])
        end = found.end()
        after = _ALSO.match(sentence, end)
        found = _NAME.match(sentence, after.end()) if after is not None else None
    if _ANYWHERE.match(sentence, end):
        names = [one if "/" in one else f"**/{one}" for one in names]
    return tuple(names), end


def tag_of(heading: str) -> str:
    """Return a heading as a tag."""
    return _NO_TAG.sub("-", _bare(heading).casefold()).strip("-")[:_MOST_TAG]


def _bare(heading: str) -> str:
    """Return a heading without marks and number."""
    return _NUMBER.sub("", plain_text(heading)).strip(" :")


def _name_of(block: MarkdownBlock) -> str:
    """Return what a block is called that is left out."""
    if is_import(block):
        return "import"
    if block.kind is MarkdownKind.BULLET and TASK.match(block.text):
        return "task"
    return "link" if is_link(block) else block.kind


def _description(said: Said) -> Said:
    """Return what a paragraph says that is no rule, if it can be understood below its heading."""
    if any(one.kind is not MarkdownKind.PARAGRAPH for one in said.blocks):
        return said
    text = prose(said)
    is_whole = len(text.split()) > _PAIR or _VALUE.match(text)
    is_kept = len(text) <= LONGEST and is_whole and not POINTS.match(text)
    return said._replace(text=text, type=MemoryType.FACT) if is_kept else said


def _without_itself(said: Said) -> Said:
    """Return what a file says first, without what it says of itself: "This file describes ..."."""
    told = sentences(said.text)
    about = _ITSELF.match(told[0]) is not None
    while about and told and (_ITSELF.match(told[0]) or _BACK.search(told[0])):
        told.pop(0)
    return said._replace(text=" ".join(told))


def _orders_of(said: Said) -> Said:
    """Return what a paragraph about all the file orders, without what it says of the file."""
    every = sentences(said.text)
    return said._replace(
        text=" ".join(one for one in every if is_sure_order(one) and not _ON_FILE.search(one))
    )


def _is_prose(said: Said) -> bool:
    """Tell whether something is a paragraph that neither binds nor states anything."""
    is_paragraph = all(one.kind is MarkdownKind.PARAGRAPH for one in said.blocks)
    text = _PLEASE.sub("", said.text)
    is_said = is_binding(text) or is_statement(text) or _names_folder(said)
    return is_paragraph and not is_said


def _names_folder(said: Said) -> bool:
    return _FOLDER.search(said.blocks[0].text) is not None


def is_instructions(file: str) -> bool:
    """Tell whether a file has instructions for assistants, by its name and its folders."""
    return bool(_NAMES.fullmatch(file.rpartition("/")[2]) or _FOLDERS.search(file))


def is_of_project(file: str) -> bool:
    """Tell whether a file has a project's instructions, for assistants or for people.

    One that is `.local` is somebody's own, and `docs/agents.md` is a page about agents.
    """
    folder, _, name = file.rpartition("/")
    is_page = bool(folder) and _PAGE.fullmatch(name) and not is_instructions(f"{folder}/x.md")
    is_wanted = is_instructions(file) or _CONTRIBUTING.fullmatch(file) is not None
    return is_wanted and not is_page and not _OWN.search(file)


def scope_of(file: str, front: FrontMatter) -> tuple[str, ...]:
    """Return the places where a file's rules apply; none where they apply everywhere.

    `file` is relative to the project root, with slashes.
    """
    folders, _, name = file.rpartition("/")
    base, in_program = _base(folders)
    patterns = list(islice(_patterns(front), MOST_PLACES + 1))
    if len(patterns) > MOST_PLACES:
        raise InvalidValue(f"applies to more than {MOST_PLACES} places")
    if patterns:
        return _placed(base if in_program else "", patterns)
    if base and (in_program or _NAMES.fullmatch(name)):
        return (f"{_escaped(base)}/**",)
    return ()


def _base(folders: str) -> tuple[str, bool]:
    """Return the folder that rules are relative to; is the file in a program's own folder?"""
    parts = folders.split("/") if folders else []
    own = next((at for at, part in enumerate(parts) if part.startswith(".")), None)
    return "/".join(parts[:own]), own is not None


def _patterns(front: FrontMatter) -> Iterator[str]:
    """Yield the patterns of front matter that count, one by one."""
    modes = {text.casefold() for key in _MODES for text in front.texts(key)}
    if "true" in front.texts("alwaysapply") or (modes and not modes & _BY_FILE):
        return
    for key in _KEYS:
        for text in front.texts(key):
            if len(text) > _LONGEST:
                raise InvalidValue(f"has {len(text)} characters in {key}, the limit is {_LONGEST}")
            bare = text.removeprefix("[").removesuffix("]") if text.endswith("]") else text
            for part in _parts(bare):
                yield from filter(None, _expanded(part.strip().strip("'\"")))


def _parts(text: str) -> Iterator[str]:
    """Yield what is between the commas that are in no braces."""
    depth = start = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth <= 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _expanded(pattern: str) -> Iterator[str]:
    """Yield a pattern once for each way through its braces."""
    found = _BRACES.search(pattern)
    if found is None:
        yield pattern
        return
    for choice in found[1].split(","):
        yield from _expanded(f"{pattern[: found.start()]}{choice.strip()}{pattern[found.end() :]}")


def _placed(base: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return patterns as places, what is taken out again at the end."""
    out = [one for one in patterns if one.startswith("!")]
    into = [one for one in patterns if not one.startswith("!")]
    if not into or _EVERYWHERE.intersection(into):
        into = ["**"] if base or out else []
    return check_places([_under(base, one) for one in (*into, *out)])


def _under(base: str, pattern: str) -> str:
    """Return a pattern of a folder relative to the project root."""
    sign = "!" * pattern.startswith("!")
    bare = pattern.removeprefix("!").removeprefix("./")
    if not base or bare.startswith(f"{base}/"):
        return sign + bare
    any_depth = "/" not in bare.rstrip("/")
    return f"{sign}{_escaped(base)}/{'**/' * any_depth}{bare.removeprefix('/')}"


def _escaped(folder: str) -> str:
    return exact_place(folder).removeprefix("/")
