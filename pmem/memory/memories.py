"""Keeping memories: add, look at, change, remove, bring back and link them."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.core import checks
from pmem.core.filters import Filter
from pmem.core.lifecycle.neighbours import Neighbour, concern_of
from pmem.core.outcomes import check_evidence, settle
from pmem.core.policy import tells_how
from pmem.core.record_keys import archived_key, content_key
from pmem.core.retention import CONVERSATION, changed
from pmem.core.selection import NOTED
from pmem.errors import InvalidValue, Refused
from pmem.memory.changes import Removable, ask_to_change, change, change_all, check_mark, vouched
from pmem.memory.links import (
    NOTHING,
    change_links,
    compare_with_known,
    count_on_subject,
    find_rivals,
    link_again,
    link_to_all,
)
from pmem.memory.requests import (
    AddAllRequest,
    Added,
    AddedAll,
    AddRequest,
    Edited,
    EditRequest,
    PinRequest,
)
from pmem.project.caller import check_leave, check_writer
from pmem.project.workspace import Workspace
from pmem.values.bounds import CATEGORY_CHARACTERS, SUBJECT_CHARACTERS
from pmem.values.defaults import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE
from pmem.values.ids import short
from pmem.values.records import Conversation, Event, EventKind, Memory, MemoryType, Scope, State

if TYPE_CHECKING:
    from pmem.core.apps.deciding import AppDecision


_PARTS: Final = (
    "reference", "add_tags", "remove_tags", "cite", "uncite", "places", "not_places", "settled",
    "reviewed", "no_end", "conversation", "link", "unlink",
)  # fmt: skip
"""Fields of a request to edit that are no new values of a memory's fields."""


def add(workspace: Workspace, request: AddRequest) -> Added:
    """Add one memory, unless there is one that should be updated instead."""
    others = count_on_subject(workspace, request.subject)
    done = add_all(workspace, AddAllRequest(memories=(request,)))
    (added,) = done.items
    count = others + 1 if others and added.action == "added" else 0
    return msgspec.structs.replace(added, made_room=done.made_room, on_subject=count)


def add_one(workspace: Workspace, request: AddRequest) -> Added:
    """Add one memory of many, which needs no count of those on its subject."""
    return add_all(workspace, AddAllRequest(memories=(request,))).items[0]


def add_all(workspace: Workspace, request: AddAllRequest) -> AddedAll:
    """Add several memories in one commit: all of them or, after an error, none."""
    memories = list(_memories(workspace, request.memories))
    done = [
        _add_or_propose(workspace, memory, wanted)
        for memory, wanted in zip(memories, request.memories, strict=True)
    ]
    made_room: Sequence[AppDecision] = ()
    if any(memory.scope.app for memory in memories):
        from pmem.memory.app_limit import make_room

        made_room = make_room(workspace)
    return AddedAll(items=tuple(done), made_room=tuple(made_room))


def put_new(
    workspace: Workspace, request: AddRequest, fact: str | None = None, **detail: Any
) -> Added:
    """Add a memory as `add` does, inside a transaction.

    `fact` is the short id of the fact that it is made of; `detail` says how its history began.
    """
    (memory,) = _memories(workspace, [request])
    begun = msgspec.structs.replace(memory.history[0], detail=detail)
    memory = msgspec.structs.replace(memory, history=(begun,))
    return _add_or_propose(workspace, memory, request, fact)


def put_approved(workspace: Workspace, memory: Memory) -> Memory:
    """Add a memory that a person agreed to, inside a transaction; one that is there stays alone."""
    twin = _twin(workspace, memory)
    if twin is not None and twin.memory.content == memory.content and not twin.is_archived:
        return twin.memory
    return _add(workspace, memory, force=True).memory


def _lints_of(workspace: Workspace, request: AddRequest) -> tuple[str, ...]:
    """Return what could be written better in a memory, where the settings want to know."""
    meant = checks.meant_category(request.category or "", workspace.settings.categories)
    typed = (f"write `--category {meant}`: {request.category!r} is new here",) if meant else ()
    wanted = workspace.settings.writing.lint
    is_agent = request.agent is not None or workspace.caller.agent is not None
    if wanted == "off" or (wanted != "everyone" and not is_agent):
        return typed
    from pmem.core.style_rules import lints, lints_of_steps

    judged = lints_of_steps if tells_how(request.type, request.category) else lints
    return (*typed, *(lint.sentence for lint in judged(request.content)))


def edit(workspace: Workspace, request: EditRequest) -> Edited:
    """Change a memory and keep what it was in its history; see `edit_from`."""
    return edit_from(workspace, request, "")


def edit_from(workspace: Workspace, request: EditRequest, source: str) -> Edited:
    """Change a memory and keep what it was in its history; link and tell what it contradicts now.

    `source` is what the change comes from where no person says it: then it is trusted no more.
    """
    fields = edited_fields(workspace, request)
    neighbours: tuple[Neighbour, ...] = ()
    same: Memory | None = None
    was: Memory | None = None
    told: dict[str, str] = {}
    if request.conversation is not None:
        told[CONVERSATION] = workspace.resolve(request.conversation, Conversation)[1]

    def apply(memory: Memory, event: Event) -> Memory:
        nonlocal neighbours, same, was
        if memory.state is State.SOFT_DELETED:  # nobody would find what is changed in there
            raise InvalidValue(
                f"memory {memory.id} was removed",
                f"bring it back first: `pmem restore {short(memory.id)}`",
            )
        wanted = fields | edited_parts(workspace, memory, request, fields)
        fresh = {name: value for name, value in wanted.items() if value != getattr(memory, name)}
        if not fresh:
            return vouched(workspace, memory, event) if request.reviewed and not source else memory
        if fresh.get("stops_edits"):
            check_mark(memory)
        if "content" in fresh:
            _content(workspace, fresh["content"], memory.scope.app)
        ask_to_change(workspace, memory, fresh)
        event = msgspec.structs.replace(event, source=source, detail=told)
        was, new = memory, changed(memory, event, **fresh)
        if {"valid_from", "valid_until"} & fresh.keys():
            checks.validity(new.valid_from, new.valid_until)
        if {"content", "subject"} & fresh.keys():
            new, neighbours, same = link_again(workspace, new)
        return new

    memory = change(workspace, Memory, request.reference, EventKind.UPDATE, apply)
    done = Edited(memory=memory, was=was, neighbours=neighbours, same=same)
    if not (request.link or request.unlink):
        return done
    linked = change_links(workspace, memory, request)
    fresh_links = tuple(link for link in linked.relationships if link not in memory.relationships)
    return msgspec.structs.replace(done, memory=linked, linked=fresh_links)


def pin(workspace: Workspace, request: PinRequest) -> Removable:
    """Pin a memory or an episode, so that it never fades, or unpin it."""

    def apply(record: Removable, event: Event) -> Removable:
        if record.pinned == request.pinned:
            return record
        if isinstance(record, Memory):
            ask_to_change(workspace, record, {"pinned": request.pinned})
        else:
            check_leave(workspace, record, "a person pins it, or unpins it")
        return changed(record, event, pinned=request.pinned)

    (record,) = change_all(workspace, [request.reference], EventKind.UPDATE, apply)
    return record


def _add_or_propose(
    workspace: Workspace, memory: Memory, request: AddRequest, fact: str | None = None
) -> Added:
    """Add a memory unless one is to be updated instead, or somebody must agree first."""
    agent = request.agent or workspace.caller.agent
    twin = None if request.force else _twin(workspace, memory)
    if twin is None and agent is not None and memory.scope.app is None:
        twin = _dropped(workspace, memory)
    if twin is not None:
        return twin
    if agent is not None or fact is not None:
        from pmem.memory.proposals import gate

        held = gate(workspace, memory, agent, fact)
        if held is not None:
            return Added(action=held.action, held=held, reason=held.sentence)
    added = _add(workspace, memory, force=request.force)
    if added.action != "added":
        return added
    return msgspec.structs.replace(added, lints=_lints_of(workspace, request))


def _add(workspace: Workspace, memory: Memory, *, force: bool) -> Added:
    """Add a memory, linked to its neighbours, unless one of them says the same."""
    found = NOTHING
    if workspace.settings.link_on_add or not force:
        found = compare_with_known(workspace, memory)
        if found.same is not None and not force:
            reason = f"a memory says the same in other words: {short(found.same.id)}"
            return Added(action="suggested", record=found.same, reason=reason)
    memory, neighbours = link_to_all(workspace, memory, found.neighbours)
    workspace.memories.put(memory)
    return Added(action="added", record=memory, links=memory.relationships, neighbours=neighbours)


def _twin(workspace: Workspace, memory: Memory) -> Added | None:
    """Return the suggestion to update, or bring back, a memory that says the same or otherwise."""
    concern = concern_of(memory.scope)
    found = workspace.memories.twins
    for what, suspects in (
        ("a memory with the same content exists", found(content_key(memory.content))),
        ("a memory on the same subject says otherwise", find_rivals(workspace, memory)),
        ("an archived memory says the same", found(archived_key(memory.content))),
    ):
        for known in suspects:
            if concern_of(known.scope) == concern:
                return Added(action="suggested", record=known, reason=f"{what}: {short(known.id)}")
    return None


def _dropped(workspace: Workspace, memory: Memory) -> Added | None:
    """Return that a person has removed what an agent noted, and notes again in other words."""
    removed = Filter(states=(State.SOFT_DELETED,))
    noted = workspace.memories.select(msgspec.structs.replace(NOTED, wanted=removed))
    dropped = [one for one in noted if not one.history[-1].agent]
    if not dropped:
        return None
    from pmem.core.lifecycle.linking import said_before

    known = said_before(memory, dropped)
    if known is None:
        return None
    reason = f"a person has removed what says this: {short(known.id)}"
    return Added(action="suggested", record=known, reason=reason)


def _check_form(
    workspace: Workspace, agent: str | None, text: str, type_: MemoryType, category: str | None
) -> None:
    """See that what an agent writes has the form that agents are held to."""
    if agent is not None:
        from pmem.memory.proposals import check_form

        check_form(workspace.settings, text, is_steps=tells_how(type_, category))


def _memories(workspace: Workspace, requests: Sequence[AddRequest]) -> Iterator[Memory]:
    """Yield the records that requests ask for; what they cite is looked at together."""
    cited: Sequence[tuple[Any, ...]] = [()] * len(requests)
    if any(request.cite for request in requests):
        from pmem.memory.citations import cite_all

        cited = cite_all(workspace, [request.cite for request in requests])
    for number, (request, citations) in enumerate(zip(requests, cited, strict=True), start=1):
        with checks.named(f"memory {number}" if len(requests) > 1 else ""):
            memory = _memory(workspace, request)
        yield msgspec.structs.replace(memory, citations=citations) if citations else memory


def edited_parts(
    workspace: Workspace, memory: Memory, request: EditRequest, fields: dict[str, Any]
) -> dict[str, Any]:
    """Return the new values of what is changed part by part: tags, citations, places, and so on."""
    if "content" in fields:
        type_ = fields.get("type", memory.type)
        category = fields.get("category", memory.category)
        _check_form(workspace, workspace.caller.agent, fields["content"], type_, category)
    parts: dict[str, Any] = {}
    if request.add_tags or request.remove_tags:
        known = fields.get("tags", memory.tags)
        parts["tags"] = checks.changed_tags(known, request.add_tags, request.remove_tags)
    if request.cite or request.uncite:
        from pmem.memory.citations import together, without

        left = without(workspace, memory.citations, request.uncite)
        parts["citations"] = together(left, fields.get("citations", ()))
    if request.places or request.not_places:
        from pmem.core.places import changed_places

        parts["places"] = changed_places(memory.places, request.places, request.not_places)
    if request.no_end:
        parts["valid_until"] = None
    if request.reviewed:
        parts |= {"review_at": None, "review_if": None}
    if request.settled is not None:
        parts["settled"] = settle(memory, request.settled, workspace.actor, workspace.now())
    return parts


def _memory(workspace: Workspace, request: AddRequest) -> Memory:
    """Make the record that a request asks for, every value checked."""
    now = workspace.now()
    app = request.app or workspace.caller.app
    content = _content(workspace, request.content, app)
    agent = request.agent or workspace.caller.agent
    _check_form(workspace, agent, content, request.type, request.category)
    start = request.valid_from or now
    checks.validity(start, request.valid_until)
    given = {name: getattr(request, name) for name in (*_CHECKED, "review_at")}
    given = {name: value for name, value in given.items() if value not in (None, ())}
    for name in ("tried", "because"):
        if name in given and request.type is not MemoryType.DEAD_END:
            raise InvalidValue(f"only a dead end has {name!r}", "its type is dead_end")
    given.setdefault("importance", DEFAULT_IMPORTANCE[request.type])
    given["category"] = request.category or DEFAULT_CATEGORY[request.type]
    fields = _checked(workspace, given)
    check_writer(workspace, request.agent, fields["category"])
    return Memory(
        id=workspace.new_id(),
        type=request.type,
        content=content,
        scope=Scope(
            app=None if app is None else checks.app_name(app),
            user=checks.word(request.user, "a user"),
            agent=checks.word(request.agent, "an agent"),
            run=checks.word(request.run, "a run"),
            actor=checks.word(request.actor, "an actor"),
            role=checks.word(request.role, "a role"),
        ),
        pinned=request.pinned,
        valid_from=start,
        valid_until=request.valid_until,
        source=request.source,
        created_at=now,
        updated_at=now,
        tokens=workspace.count(content),
        history=(
            Event(
                event=EventKind.ADD,
                at=now,
                actor=workspace.actor,
                agent=workspace.caller.agent or request.agent or "",
            ),
        ),
        **fields,
    )


def _content(workspace: Workspace, content: str, app: str | None) -> str:
    """Return a content that is not too long for a memory, or for a memory of an app."""
    limits = workspace.settings.limits
    content = checks.text(content, "a memory", limits.memory)
    return checks.text(content, "an app's memory", limits.app_memory) if app else content


def edited_fields(workspace: Workspace, request: EditRequest) -> dict[str, Any]:
    """Return the new values that a request gives, by field, each checked."""
    if request.stops_edits is not None and workspace.caller.agent is not None:
        raise Refused("only a person says what stops edits", "leave that out")
    fields = {
        name: value
        for name, value in msgspec.structs.asdict(request).items()
        if value is not None and name not in _PARTS
    }
    if request.cite:
        from pmem.memory.citations import cite_all

        (fields["citations"],) = cite_all(workspace, [request.cite])
    emptied = {name: None for name in _CAN_GO if not fields.get(name, "-").strip()}
    checked = _checked(workspace, fields | emptied)
    if "content" in checked:
        checked["tokens"] = workspace.count(checked["content"])
    return checked


_CAN_GO: Final = ("subject", "review_if")
"""What an edit takes away by saying nothing there."""
_CHECKED: Final = (
    *("category", "subject", "tags", "importance", "places", "tried", "because", "evidence"),
    *("instead_of", "review_if"),
)
"""The fields of a new memory that `_checked` knows, its content apart."""


def _checked(workspace: Workspace, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a memory's fields as they are kept."""
    most, vocabulary = workspace.settings.limits.memory, workspace.settings.categories
    check: dict[str, Callable[[Any], Any]] = {
        "content": lambda value: checks.text(value, "a memory", most),
        "subject": lambda value: checks.text(value, "a subject", SUBJECT_CHARACTERS),
        "category": lambda value: checks.category(value, vocabulary, CATEGORY_CHARACTERS),
        "importance": lambda value: checks.share("importance", value),
        "tags": checks.tags,
        "tried": lambda value: checks.text(value, "what 'tried' says", most),
        "because": lambda value: checks.text(value, "what 'because' says", most),
        "evidence": check_evidence,
        "instead_of": lambda value: checks.texts(value, "an alternative", most),
        "review_if": lambda value: checks.text(value, "a condition", most),
    }
    if "places" in fields:
        from pmem.core.places import check_places

        check["places"] = check_places
    return {
        name: check[name](value) if name in check and value is not None else value
        for name, value in fields.items()
    }
