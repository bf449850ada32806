"""The memory as Markdown for people: one page, or a page for each subject and an index.

The same memories give the same bytes: nothing here depends on the present. Whatever a memory
says is in the middle of a line, escaped, so it can be no heading, list or link.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from operator import itemgetter
from typing import Final, Protocol, TypeVar

from pmem.core.filters import fold
from pmem.core.lines import split_lines
from pmem.core.trust import label_of
from pmem.core.visible import escape_markdown
from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType
from pmem.values.times import day

MARK: Final = "<!-- made by pmem export markdown -->"
"""The first line of every page, by which it is known again."""
INDEX: Final = "index.md"
_INTRODUCTION: Final = "Recorded data, not instructions."
_LONGEST_NAME: Final = 40
_UNSAFE: Final = re.compile("[^0-9A-Za-z-]")


class OnSubject(Protocol):
    """What may have a subject."""

    @property
    def subject(self) -> str | None:
        """The subject, if there is one."""


S = TypeVar("S", bound=OnSubject)


def write_pages(memories: Iterable[Memory], *, by_subject: bool) -> dict[str, str]:
    """Return memories as Markdown: pages by file name; `INDEX` has what is on no other page."""
    known = sorted(memories, key=lambda memory: (memory.created_at, memory.id))
    subjects = dict(sorted(group_by_subject(known).items(), key=lambda each: fold(each[0])))
    files = {
        memory.id: page_name(subject, "md") if by_subject else INDEX
        for subject, those in subjects.items()
        for memory in those
    }
    pages = {
        page_name(subject, "md"): _page(escape_markdown(subject), _bullets(those, files))
        for subject, those in subjects.items()
        if by_subject
    }
    files |= {memory.id: INDEX for memory in known if not memory.subject}
    return {INDEX: _page("Memory", _index(known, subjects, files, by_subject=by_subject)), **pages}


def group_by_subject(items: Iterable[S]) -> dict[str, list[S]]:
    """Return what is on each subject, named as its last one names it, letter case aside."""
    groups: dict[str, list[tuple[str, S]]] = {}
    for item in items:
        if item.subject:
            groups.setdefault(fold(item.subject), []).append((item.subject, item))
    return {each[-1][0]: [*map(itemgetter(1), each)] for each in groups.values()}


def page_name(subject: str, ending: str) -> str:
    """Return a subject's file name: readable, safe on every system, and no other subject's."""
    known = fold(subject)
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in known)
    words = "-".join(filter(None, plain.split("-")))[:_LONGEST_NAME].strip("-")
    return f"{words or 'subject'}-{sha256(known.encode()).hexdigest()[:8]}.{ending}"


def _page(title: str, lines: Iterable[str]) -> str:
    return "\n".join([MARK, "", f"# {title}", "", _INTRODUCTION, *lines]) + "\n"


def _index(
    known: Sequence[Memory],
    subjects: Mapping[str, Sequence[Memory]],
    files: Mapping[str, str],
    *,
    by_subject: bool,
) -> Iterator[str]:
    """Yield the lines of the first page: the subjects, then by type what has none."""
    if by_subject and subjects:
        yield from ("", "## Subjects", "")
        for subject, those in subjects.items():
            yield f"- [{escape_markdown(subject)}]({page_name(subject, 'md')}) ({len(those)})"
    else:
        for subject, those in subjects.items():
            yield from ("", f"## {escape_markdown(subject)}")
            yield from _bullets(those, files)
    for type_ in MemoryType:
        those = [memory for memory in known if memory.type is type_ and not memory.subject]
        if those:
            yield from ("", f"## {_plain(type_).capitalize()}")
            yield from _bullets(those, files)


def _bullets(memories: Iterable[Memory], files: Mapping[str, str]) -> Iterator[str]:
    yield ""
    for memory in memories:
        text = "<br>".join(
            escape_markdown(line) for line in split_lines(memory.content) if line.strip()
        )
        anchor = f'<a id="{_anchor(memory.id)}"></a>'
        yield f"- {anchor}**{_plain(memory.type)}** {label_of(memory)}{text}\\"
        yield f"  {'; '.join(_details(memory, files))}"


def _details(memory: Memory, files: Mapping[str, str]) -> Iterator[str]:
    """Yield what belongs to a memory beside its text: id, day, writer, files, tags, links."""
    writer = memory.history[0].actor if memory.history else ""
    by = f" by {escape_markdown(writer)}" if writer else ""
    yield f"{escape_markdown(short(memory.id))}, {day(memory.created_at).strip()}{by}"
    if memory.valid_until:
        yield f"valid until {day(memory.valid_until).strip()}"
    if memory.places:
        yield f"for {', '.join(map(escape_markdown, memory.places))}"
    if memory.citations:
        yield f"cites {', '.join(escape_markdown(cited.place) for cited in memory.citations)}"
    if memory.tags:
        yield f"tags {', '.join(map(escape_markdown, memory.tags))}"
    for link in memory.relationships:
        if link.target in files:
            page = files[link.target]
            place = "" if page == files[memory.id] else page
            name = escape_markdown(short(link.target))
            yield f"{_plain(link.type)} [{name}]({place}#{_anchor(link.target)})"


def _plain(name: str) -> str:
    return escape_markdown(name.replace("_", " "))


def _anchor(identifier: str) -> str:
    """Return the name of a memory's place in a page."""
    return _UNSAFE.sub("-", identifier)
