"""Proposing what the project's own history says: pending facts, each with its commit."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from heapq import nlargest
from typing import Annotated, Any, Final, NamedTuple

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


class _Found(NamedTuple):
    """A proposal and its commit."""

    proposal: CommitClaim
    commit: CommitText

    @property
    def rank(self) -> tuple[float, datetime]:
        return self.proposal.confidence, self.commit.at


def import_git(workspace: Workspace, request: HistoryImportRequest) -> HistoryImported:
    """Propose what commits say, as pending facts; what was proposed before stays as it is."""
    if request.limit < 1:
        raise InvalidValue(f"a limit must be at least 1, not {request.limit}")
    reader = _HistoryReader(workspace, request)
    chosen = nlargest(request.limit, reader.proposals(), key=lambda one: one.rank)
    workspace.notes += limits_of_history(workspace.root)
    conversation, known = _conversation(workspace)
    fresh = [one for one in chosen if one.commit.id not in known]
    facts, messages, skipped = _Intake(workspace, request).take(fresh)
    if facts and not request.dry_run:
        with workspace.transaction():
            grown = msgspec.structs.replace(conversation, facts=(*conversation.facts, *facts))
            append(workspace, grown, messages)
        workspace.gate.forget()
    commits = {short(fact.id): fact.evidence[0].removeprefix(COMMIT) for fact in facts}
    return HistoryImported(
        commits=reader.read,
        added=len(facts),
        unchanged=len(chosen) - len(fresh),
        skipped=tuple(skipped),
        by_type=dict(sorted(Counter(str(fact.type) for fact in facts).items())),
        items=tuple(
            CommitProposal(
                id=short(fact.id),
                commit=commits[short(fact.id)],
                type=fact.type,
                content=fact.content,
                confidence=fact.confidence,
            )
            for fact in sorted(facts, key=lambda fact: -fact.confidence)
        ),
        dry_run=request.dry_run,
    )


class _HistoryReader:
    """Reads commits, and counts them."""

    def __init__(self, workspace: Workspace, request: HistoryImportRequest) -> None:
        self.read = 0
        self._workspace = workspace
        self._request = request

    def proposals(self) -> Iterable[_Found]:
        """Yield what commits say; what was taken back and came again was no dead end."""
        newer: set[int] = set()
        top, environment = self._workspace.sources.top, self._workspace.environment
        for commit in read_commits(top, environment, self._request.revisions):
            self.read += 1
            self._request.progress(self.read, 0)
            reverted = reverted_subject(commit.text)
            came_again = reverted is not None and _sameness(reverted) in newer
            newer.add(_sameness(commit.text.partition("\n")[0]))
            if not came_again:
                yield from (_Found(one, commit) for one in proposals_of(commit.text, commit.author))


def _sameness(subject: str) -> int:
    """Return a number that tells subjects apart, and takes little room."""
    return hash(key(plain_subject(subject)))


class _Intake:
    """Makes messages and facts of what was chosen."""

    def __init__(self, workspace: Workspace, request: HistoryImportRequest) -> None:
        self._workspace = workspace
        self._request = request

    def take(self, chosen: list[_Found]) -> tuple[list[Fact], list[Message], list[Skipped]]:
        """Return the facts, the messages that state them, and what holds a secret."""
        workspace = self._workspace
        commits = {one.commit.id: one.commit for one in chosen}
        files = files_of(workspace.sources.top, workspace.environment, list(commits))
        messages: dict[str, Message] = {}
        skipped: list[Skipped] = []
        for commit in sorted(commits.values(), key=lambda commit: (commit.at, commit.id)):
            try:
                messages[commit.id] = self._message(commit)
            except SecretFound as found:
                why = f"holds a secret ({found.kind})"
                skipped.append(Skipped(f"commit {commit.id[:10]}", why))
        facts: dict[str, Fact] = {}
        for one in chosen:
            said = messages.get(one.commit.id)
            if said is not None:
                fact = _fact(one, said, files.get(one.commit.id, ()))
                facts.setdefault(short(fact.id), fact)
        stating = {fact.message for fact in facts.values()}
        kept = [message for message in messages.values() if message.id in stating]
        return list(facts.values()), kept, skipped

    def _message(self, commit: CommitText) -> Message:
        limit = MESSAGE_CHARACTERS
        text: Any = self._request.admit(commit.text[:limit], f"commit {commit.id[:10]}")
        message = Message(
            id=derived_id(commit.at, "message", NAME, commit.id),
            external_id=commit.id,
            role=Role.TOOL,
            speaker=commit.author or None,
            content=text,
            created_at=commit.at,
        )
        return with_token_count(self._workspace, message)


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


def _fact(found: _Found, message: Message, files: tuple[str, ...]) -> Fact:
    proposal = found.proposal
    return Fact(
        id=derived_id(message.created_at, "fact", key(proposal.content)),
        content=proposal.content,
        type=proposal.type,
        confidence=proposal.confidence,
        message=message.id,
        extracted_at=message.created_at,
        places=tuple(map(exact_place, files)) if len(files) <= FEW_FILES else (),
        tried=proposal.tried,
        because=proposal.because,
        evidence=(f"{COMMIT}{found.commit.id}",),
    )
