"""Every operation as a method, of a project or of its apps.

A method's arguments are the fields of its operation's request.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from pmem.core.queries import Item, parse
from pmem.library.typed import checked, made
from pmem.operations import table
from pmem.operations.operation import A, Operation, Q
from pmem.operations.pipeline import request_of

B_co = TypeVar("B_co", covariant=True)


class Method(Protocol[B_co]):
    """What takes the fields of a request, and returns the answer or a part of it."""

    def __call__(self, *given: Any, **fields: Any) -> B_co: ...


def call(operation: Operation[Any, A], *names: str, **usual: Any) -> Method[A]:
    """Return a method that runs an operation, and returns its answer; see `part`."""
    return part(operation, *names, of=lambda answer: answer, **usual)


def part(
    operation: Operation[Any, A], *names: str, of: Callable[[A], B_co], **usual: Any
) -> Method[B_co]:
    """Return a method that runs an operation, and returns a part of its answer.

    The fields `names` may be given by position, in this order; `*name` takes all of them. `usual`
    is what the request has where a field is not given.
    """

    def run(self: Any, *given: Any, **fields: Any) -> B_co:
        asked = {**usual, **_by_name(names, given, fields), **fields}
        return of(self._run(operation, made(request_of(operation), **asked)))

    run.__doc__ = f"{operation.meaning}; takes the fields of the request of `{operation.function}`."
    return run


def _by_name(names: tuple[str, ...], given: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    if names[:1] and names[0].startswith("*"):
        return {names[0][1:]: given} if given or names[0][1:] not in fields else {}
    if len(given) > len(names):
        raise TypeError(f"{len(names)} arguments may be given by position, not {len(given)}")
    twice = fields.keys() & set(names[: len(given)])
    if twice:
        raise TypeError(f"{', '.join(twice)} is given twice")
    return dict(zip(names, given, strict=False))


class ProjectOperations:
    """What can be asked of a project; see `pmem help` for what each does."""

    @abstractmethod
    def _run(self, operation: Operation[Q, A], request: Q) -> A: ...

    # memories

    add = call(table.ADD, "content", "type")
    add_all = part(table.ADD_ALL, "memories", of=lambda done: list(done.items))
    share = call(table.SHARE, "reference")
    show = part(table.SHOW, "reference", "at", of=lambda found: found.record)
    list = call(table.LIST, "wanted")
    block = part(table.BLOCK, "wanted", of=lambda block: block.text)
    edit = part(table.EDIT, "reference", "content", of=lambda done: done.memory)
    supersede = call(table.SUPERSEDE, "reference", "content")
    supersede_by = call(table.SUPERSEDE_BY, "reference", "successor")
    remove = part(table.REMOVE, "*references", of=lambda done: done.records)
    restore = part(table.RESTORE, "*references", of=lambda done: done.records)
    purge = part(table.PURGE, "*references", of=lambda done: done.records)
    undo = call(table.UNDO, "many", "reference")
    pin = call(table.PIN, "reference")
    link = call(table.LINK, "start", "end", "type", "strength")
    unlink = call(table.UNLINK, "start", "end", "type")
    settle = part(table.SETTLE, "*references", of=lambda done: done.records)
    waiting = call(table.WAITING)
    approve = part(table.APPROVE, "*references", of=lambda done: done.items)
    reject = part(table.REJECT, "*references", of=lambda done: done.items)
    confirm = part(table.CONFIRM, "agent", of=lambda done: done.items)
    names = call(table.NAMES, "of")

    # what happened to them

    history = part(table.HISTORY, "reference", of=lambda found: found.to_plain())
    versions = part(table.VERSIONS, "reference", of=lambda found: found.items)
    events = call(table.EVENTS)
    operations = call(table.OPERATIONS)
    audit = part(table.EXPORT_AUDIT, "user", of=lambda found: found.items)
    week = call(table.WEEK, "since")
    changelog = part(table.CHANGELOG, "revisions", of=lambda found: found.changelog)
    provenance = call(table.PROVENANCE, "reference")

    # what is found

    search = call(table.SEARCH, "query")
    build_context = call(table.CONTEXT, "query", hits=True)
    delta = call(table.DELTA, "thread")
    why = call(table.WHY, "place")
    evaluate = call(table.EVALUATE, "file")
    add_question = call(table.ADD_QUESTION, "query", "reference")

    @checked
    def query(self, request: Mapping[str, Any]) -> tuple[Item, ...]:
        """Answer an agent's request with the keys of `pmem.core.queries.QueryRequest`.

        Raises:
            InvalidValue: It has an unknown key, or a value of another type.
            Refused: A category lies beyond the agent's allowlist.
        """
        return self._run(table.QUERY, parse(request)).items

    # decisions, and what was tried

    tried = call(table.TRIED, "tried", "failed")
    outcome = part(table.OUTCOME, "reference", "verdict", "text", of=lambda done: done.memory)
    due = call(table.DUE, "until")
    inbox = call(table.INBOX, "*kinds")

    # conversations, facts and episodes

    start_conversation = call(table.START, "title", "app")
    add_message = call(table.SAY, "role", "content")
    end_conversation = part(table.END, "outcome", "conversation", of=lambda done: done.conversation)
    pause_conversation = call(table.PAUSE, "conversation")
    resume_conversation = call(table.RESUME, "conversation")
    clear_conversation = call(table.CLEAR, "conversation")
    conversations = part(table.CONVERSATIONS, "status", of=lambda found: found.items)
    transcript = call(table.TRANSCRIPT, "conversation")
    prune_conversation = call(table.PRUNE, "conversation")
    pruned_messages = call(table.PRUNED, "conversation")
    mark_message = call(table.MARK, "message")
    remove_message = call(table.REMOVE_MESSAGE, "message", "reason")
    conversation_stats = call(table.USAGE, "conversation")
    facts = call(table.FACTS)
    promote_facts = part(table.PROMOTE, "*references", of=lambda done: done.items)
    reject_facts = part(table.REJECT_FACTS, "*references", of=lambda done: done.items)
    add_episode = call(table.ADD_EPISODE, "summary")
    episodes = call(table.EPISODES)
    narrative_arc = call(table.ARC, "conversation")
    save_checkpoint = call(table.SAVE_CHECKPOINT, "thread", "state", "user")
    load_checkpoint = call(table.LOAD_CHECKPOINT, "thread", "user")
    remove_checkpoint = part(table.REMOVE_CHECKPOINT, "thread", "user", of=lambda _: None)
    checkpoints = part(table.CHECKPOINTS, "user", of=lambda found: found.items)

    # in and out

    import_messages = call(table.IMPORT_MESSAGES, "lines", "name")
    import_sessions = call(table.IMPORT_SESSIONS, "harness", "path")
    import_arrays = call(table.IMPORT_ARRAYS, "folder")
    export_arrays = part(table.EXPORT_ARRAYS, of=lambda done: done.files)
    export_markdown = part(table.EXPORT_MARKDOWN, of=lambda done: done.files)
    report = call(table.REPORT, "tasks", "since")
    receipts = call(table.RECEIPTS, "task", "budgets")

    # what keeps it in order

    stats = call(table.STATS)
    consolidate = call(table.CONSOLIDATE)
    sweep = call(table.SWEEP)
    check = call(table.CHECK)
    repair = call(table.REPAIR)
    check_merges = call(table.CHECK_MERGES, "revisions")
    verify = call(table.VERIFY, "*references")
    sync = call(table.SYNC)
    database_status = call(table.DATABASE_STATUS)
    doctor = part(table.DOCTOR, of=lambda found: found.items)
    work = call(table.WORK, "kinds")
    next_work = call(table.NEXT_WORK, "limit")
    apply_work = call(table.APPLY_WORK, "answers")
    test_model = call(table.TEST_MODEL, "kinds")


class Apps:
    """Operations on apps' memories. Threads may share it, as they may the project."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    remember = call(table.REMEMBER, "app", "content")
    all = part(table.APPS, of=lambda found: found.items)
    list = call(table.APP_MEMORIES, "app", "user")
    show = call(table.APP_MEMORY, "app", "reference")
    context = call(table.APP_CONTEXT, "app", "conversation", "user")
    compact = call(table.COMPACT, "app")
    delete = call(table.APP_DELETE, "app", "reference")
    purge = call(table.APP_PURGE, "app")
    uninstall = call(table.UNINSTALL, "app")
    stats = call(table.APP_STATS)
    poll_energy = part(table.POLL_ENERGY, of=lambda found: found.spent)
