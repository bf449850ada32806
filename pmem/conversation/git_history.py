"""Proposing what the project's own history says: pending facts, each with its commit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Annotated, Any, Final

import msgspec

from pmem.conversation.exchange import with_token_count
from pmem.conversation.transcripts import append, conversation_of
from pmem.core.extraction.commits import CommitClaim, plain_subject, proposals_of, reverted_subject
from pmem.core.extraction.facts import key
from pmem.core.outcomes import COMMIT
from pmem.core.places import exact_place
from pmem.errors import InvalidValue
from pmem.interchange import Skipped
from pmem.memory.conversations import unfold
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.storage.git.commits import HEAD, CommitText, files_of, read_commits
from pmem.storage.git.repository import limits_of_history
from pmem.values.bounds import MESSAGE_CHARACTERS
from pmem.values.fields import Admit, DryRun, Progress, as_it_is, asked, ignore_progress
from pmem.values.ids import derived_id, short
from pmem.values.records import Conversation, Fact, Message, Role
from pmem.values.times import UNDATED

NAME: Final = "git history"
"""What the conversation is called that holds the commits which say something."""
MOST: Final = 200
"""So many proposals are made by one import, unless it is told otherwise."""
FEW_FILES: Final = 3
"""Of a commit that touched no more files, these are the places of what it says."""
_SOURCE: Final = "import git"


class HistoryImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Commits of the project.

    Of proposals at most `limit` are made: the surest, and of equals the newest. `admit` lets in
    what holds no secret, commit by commit.
    """

    revisions: Annotated[
        str,
        asked("A branch, or a range such as v1.0..HEAD.", shown="[RANGE]", is_argument=True),
    ] = HEAD
    limit: Annotated[int, asked("At most N proposals, the surest first.", least=1)] = MOST
    dry_run: DryRun = False
    progress: Progress = ignore_progress
    admit: Admit = as_it_is


class CommitProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that is proposed, and the commit that says it."""

    id: str
    commit: str
    type: str
    content: str
    confidence: float


class HistoryImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of the history led to; `items` are the new proposals, the surest first."""

    commits: int
    added: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    by_type: dict[str, int]
    items: tuple[CommitProposal, ...]
    dry_run: bool


_Proposal = tuple[CommitClaim, CommitText]
"""What is proposed, and the commit that says it."""


def import_git(workspace: Workspace, request: HistoryImportRequest) -> HistoryImported:
    """Propose what commits say, as pending facts; what was proposed before stays as it is."""
    return propose_commits(workspace, request, None)


def propose_commits(
    workspace: Workspace, request: HistoryImportRequest, most: int | None
) -> HistoryImported:
    """Propose what the newest `most` commits say, as `import_git` does; of all where it is None."""
    if request.limit < 1:
        raise InvalidValue(f"a limit must be at least 1, not {request.limit}")
    read: Counter[str] = Counter()
    top, environment = workspace.sources.top, workspace.environment
    commits = read_commits(top, environment, request.revisions, most)
    proposals = _proposals(commits, request, read)
    chosen = nlargest(request.limit, proposals, key=lambda one: (one[0].confidence, one[1].at))
    request.progress(read.total(), read.total())
    workspace.notes += limits_of_history(workspace.root)
    conversation, known = _conversation(workspace)
    fresh = [one for one in chosen if one[1].id not in known]
    skipped: list[Skipped] = []
    said = _messages(workspace, request, {commit.id: commit for _, commit in fresh}, skipped)
    facts = _facts(workspace, fresh, said)
    if facts and not request.dry_run:
        stating = {fact.message for fact in facts}
        with workspace.transaction():
            grown = msgspec.structs.replace(conversation, facts=(*conversation.facts, *facts))
            append(workspace, grown, [one for one in said.values() if one.id in stating])
        workspace.gate.forget()
    return HistoryImported(
        commits=read.total(),
        added=len(facts),
        unchanged=len(chosen) - len(fresh),
        skipped=tuple(skipped),
        by_type=dict(sorted(Counter(str(fact.type) for fact in facts).items())),
        items=tuple(
            CommitProposal(
                id=short(fact.id),
                commit=fact.evidence[0].removeprefix(COMMIT),
                type=fact.type,
                content=fact.content,
                confidence=fact.confidence,
            )
            for fact in sorted(facts, key=lambda fact: -fact.confidence)
        ),
        dry_run=request.dry_run,
    )


def _proposals(
    commits: Iterable[CommitText], request: HistoryImportRequest, read: Counter[str]
) -> Iterator[_Proposal]:
    """Yield what commits say; what was taken back and came again was no dead end."""
    newer: set[int] = set()
    for commit in commits:
        read["commits"] += 1
        request.progress(read.total(), 0)
        reverted = reverted_subject(commit.text)
        came_again = reverted is not None and _sameness(reverted) in newer
        newer.add(_sameness(commit.text.partition("\n")[0]))
        if not came_again:
            yield from ((one, commit) for one in proposals_of(commit.text, commit.author))


def _sameness(subject: str) -> int:
    """Return a number that tells subjects apart, and takes little room."""
    return hash(key(plain_subject(subject)))


def _messages(
    workspace: Workspace,
    request: HistoryImportRequest,
    commits: Mapping[str, CommitText],
    skipped: list[Skipped],
) -> dict[str, Message]:
    """Make the messages of commits, by their ids; what holds a secret is skipped."""
    messages: dict[str, Message] = {}
    for commit in sorted(commits.values(), key=lambda commit: (commit.at, commit.id)):
        where = f"commit {commit.id[:10]}"
        try:
            text: Any = request.admit(commit.text[:MESSAGE_CHARACTERS], where)
        except SecretFound as found:
            skipped.append(Skipped(where, f"holds a secret ({found.kind})"))
            continue
        message = Message(
            id=derived_id(commit.at, "message", NAME, commit.id),
            external_id=commit.id,
            role=Role.TOOL,
            speaker=commit.author or None,
            content=text,
            created_at=commit.at,
        )
        messages[commit.id] = with_token_count(workspace, message)
    return messages


def _facts(
    workspace: Workspace, chosen: Sequence[_Proposal], said: Mapping[str, Message]
) -> list[Fact]:
    """Make the facts that messages of commits state, each once."""
    commits = list(dict.fromkeys(commit.id for _, commit in chosen))
    files = files_of(workspace.sources.top, workspace.environment, commits)
    facts: dict[str, Fact] = {}
    for proposal, commit in chosen:
        message, touched = said.get(commit.id), files.get(commit.id, ())
        if message is None:
            continue
        fact = Fact(
            id=derived_id(message.created_at, "fact", key(proposal.content)),
            content=proposal.content,
            type=proposal.type,
            confidence=proposal.confidence,
            message=message.id,
            extracted_at=message.created_at,
            places=tuple(map(exact_place, touched)) if len(touched) <= FEW_FILES else (),
            tried=proposal.tried,
            because=proposal.because,
            evidence=(f"{COMMIT}{commit.id}",),
        )
        facts.setdefault(short(fact.id), fact)
    return list(facts.values())


def _conversation(workspace: Workspace) -> tuple[Conversation, set[str]]:
    """Return the conversation of the history, and the commits that it has."""
    named = (one for one in workspace.conversations.find() if one.external_id == NAME)
    known = next(named, None)
    if known is not None:
        held = unfold(workspace, known).messages
        return known, {message.external_id or "" for message in held}
    first = Message(id="", role=Role.TOOL, content="", created_at=UNDATED)
    made = conversation_of(workspace, NAME, [first], _SOURCE)
    return msgspec.structs.replace(made, title="Git history"), set()
