"""Read-only views of a workspace: as it was at a moment, or as a git revision has it."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pmem.errors import InvalidValue
from pmem.project.configuration import CONFIG_FILE, parse_config
from pmem.storage.backend import Backend
from pmem.storage.git.repository import Repository
from pmem.storage.git.revision import Revision, Tree
from pmem.storage.past import PastBackend
from pmem.values.times import in_utc

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace


def seen_at(workspace: "Workspace", at: datetime | str | None) -> "Workspace":
    """Return a workspace as it was at a moment or as a git revision has it; as it is for None."""
    if at is None:
        return workspace
    return at_revision(workspace, at) if isinstance(at, str) else at_moment(workspace, at)


def at_moment(workspace: "Workspace", moment: datetime) -> "Workspace":
    """Return a read-only view of everything as it was, whose present is that moment.

    In the future everything is as it is now.
    """
    try:
        then = in_utc(moment)
    except OverflowError:
        raise InvalidValue(f"{moment} leaves the calendar in UTC") from None
    count = lambda text: workspace.count(text)  # noqa: E731, PLW0108 - made when first needed
    past = PastBackend(workspace.backend, then, count)
    view = _view(workspace, past, then, "that time")
    view.moment, view.revision = then, workspace.revision
    return view


def at_revision(workspace: "Workspace", name: str) -> "Workspace":
    """Return a read-only view of everything as a branch, a tag or a commit has it, settings too.

    The present stays what it is: a checkout of that revision would answer the same.
    """
    repository = Repository(workspace.root, workspace.environment)
    commit = repository.commit(name)
    known = workspace.shared.revisions
    tree = known.get((commit, name)) or Revision(repository, commit, name)
    return seen_in(workspace, known.setdefault((commit, name), tree))


def seen_in(workspace: "Workspace", tree: Tree) -> "Workspace":
    """Return a view of everything as git has it, at the same present."""
    view = _view(workspace, tree, workspace.given_now, tree.name)
    view.revision = tree if isinstance(tree, Revision) else None

    def settings() -> dict[str, Any]:
        data = tree.file(CONFIG_FILE)
        return {} if data is None else parse_config(data, tree.where(CONFIG_FILE))

    view.configuration = workspace.configuration.at(settings)
    return view


def again(view: "Workspace", present: "Workspace") -> "Workspace":
    """Return the same view of another workspace, such as what an agent may see."""
    if view.moment is not None:
        return at_moment(present, view.moment)
    assert isinstance(view.whole, Tree)
    return seen_in(present, view.whole)


def _view(workspace: "Workspace", backend: Backend, now: datetime | None, name: str) -> "Workspace":
    view = type(workspace)(
        workspace.root,
        actor=workspace.given_actor,
        now=now,
        read_only=True,
        environment=workspace.environment,
        backend=backend,
        caller=workspace.caller,
        shared=workspace.shared,
        models=workspace.given_models,
    )
    view.configuration = workspace.configuration
    view.present, view.name, view.notes = workspace, name, workspace.notes
    view.reach = workspace.reach
    return view
