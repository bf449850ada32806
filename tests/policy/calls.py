"""Every public call of the library with arguments to try it with, for whoever asks."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from pmem import Project
from pmem.core.filters import EVERYTHING
from pmem.library.operations import Apps
from pmem.memory.requests import AddRequest


class Given(NamedTuple):
    """What calls are made with: two references, a text, a category, an app, a yes or no, ..."""

    ref: str
    other: str
    text: str
    category: str
    flag: bool
    request: Mapping[str, Any]
    app: str = "calendar"


Call = Callable[[Project, Given], Any]


def _said(project: Project) -> str:
    """Return the id of a message of the current conversation; some text where there is none."""
    return next((each.id for each in project.transcript().messages), "none")


CALLS: Final[dict[str, Call]] = {
    "add": lambda p, g: p.add(g.text, category=g.category, subject=g.text, force=g.flag),
    "add_all": lambda p, g: p.add_all([AddRequest(content=g.text, category=g.category, app=g.app)]),
    "show": lambda p, g: p.show(g.ref),
    "list": lambda p, _: p.list(EVERYTHING),
    "block": lambda p, _: p.block(),
    "edit": lambda p, g: p.edit(g.ref, g.text, category=g.category if g.flag else None),
    "supersede": lambda p, g: p.supersede(g.ref, g.text, category=g.category if g.flag else None),
    "supersede_by": lambda p, g: p.supersede_by(g.ref, g.other),
    "remove": lambda p, g: p.remove(g.ref),
    "restore": lambda p, g: p.restore(g.ref),
    "purge": lambda p, g: p.purge(g.ref, force=g.flag),
    "share": lambda p, g: p.share(g.ref, force=g.flag),
    "inbox": lambda p, _: p.inbox(),
    "report": lambda p, g: p.report((g.text,)),
    "receipts": lambda p, g: p.receipts(g.text, (200,)),
    "undo": lambda p, g: p.undo(reference=g.ref, dry_run=g.flag),
    "pin": lambda p, g: p.pin(g.ref, pinned=g.flag),
    "link": lambda p, g: p.link(g.ref, g.other),
    "unlink": lambda p, g: p.unlink(g.ref, g.other),
    "settle": lambda p, g: p.settle(g.ref, other=g.flag),
    "history": lambda p, g: p.history(g.ref),
    "versions": lambda p, g: p.versions(g.ref),
    "events": lambda p, g: p.events(limit=0, reference=g.ref if g.flag else None),
    "operations": lambda p, _: p.operations(limit=0),
    "waiting": lambda p, g: p.waiting(decisions=g.flag),
    "approve": lambda p, g: p.approve(_waiting(p, g.ref)),
    "confirm": lambda p, g: p.confirm("helper"),
    "reject": lambda p, g: p.reject(_waiting(p, g.ref)),
    "audit": lambda p, g: p.audit("mira" if g.flag else None),
    "search": lambda p, _: p.search("gear wheel", top_k=50, related=9),
    "query": lambda p, g: p.query(g.request),
    "build_context": lambda p, g: p.build_context("gear", thread="t" if g.flag else None),
    "build_context for an app": lambda p, g: p.build_context("gear", app=g.app),
    "start_conversation": lambda p, g: p.start_conversation(g.text, g.app if g.flag else None),
    "add_message": lambda p, g: p.add_message("user", f"We decided: {g.text}."),
    "end_conversation": lambda p, g: p.end_conversation(g.text if g.flag else None),
    "pause_conversation": lambda p, _: p.pause_conversation(),
    "resume_conversation": lambda p, _: p.resume_conversation(),
    "clear_conversation": lambda p, _: p.clear_conversation(),
    "conversations": lambda p, _: p.conversations(),
    "transcript": lambda p, _: p.transcript(),
    "prune_conversation": lambda p, _: p.prune_conversation(),
    "pruned_messages": lambda p, _: p.pruned_messages(),
    "mark_message": lambda p, _: p.mark_message(_said(p), pinned=True),
    "remove_message": lambda p, _: p.remove_message(_said(p)),
    "conversation_stats": lambda p, _: p.conversation_stats(),
    "facts": lambda p, _: p.facts(standing=None),
    "sync": lambda p, _: p.sync(),
    "database_status": lambda p, _: p.database_status(),
    "promote_facts": lambda p, _: p.promote_facts(above=0),
    "reject_facts": lambda p, _: p.reject_facts(*(one.fact.id for one in p.facts().items[:1])),
    "add_episode": lambda p, g: p.add_episode(g.text, memories=(g.ref,) if g.flag else ()),
    "episodes": lambda p, _: p.episodes(),
    "narrative_arc": lambda p, _: p.narrative_arc(),
    "delta": lambda p, _: p.delta("t"),
    "save_checkpoint": lambda p, _: p.save_checkpoint("t", {}),
    "load_checkpoint": lambda p, _: p.load_checkpoint("t"),
    "remove_checkpoint": lambda p, _: p.remove_checkpoint("t"),
    "checkpoints": lambda p, _: p.checkpoints(),
    "changelog": lambda p, _: p.changelog(),
    "provenance": lambda p, g: p.provenance(g.ref),
    "problems": lambda p, _: p.problems,
    "evaluate": lambda p, _: p.evaluate(),
    "add_question": lambda p, g: p.add_question("gear", g.ref, file="golden.jsonl"),
    "import_messages": lambda p, _: p.import_messages([]),
    "import_sessions": lambda p, _: p.import_sessions(path="absent"),
    "import_arrays": lambda p, _: p.import_arrays("absent"),
    "export_markdown": lambda p, g: p.export_markdown(by_subject=g.flag),
    "export_arrays": lambda p, _: p.export_arrays(),
    "stats": lambda p, _: p.stats(),
    "consolidate": lambda p, g: p.consolidate(dry_run=g.flag),
    "sweep": lambda p, g: p.sweep(dry_run=g.flag),
    "check": lambda p, _: p.check(),
    "repair": lambda p, g: p.repair(dry_run=g.flag),
    "check_merges": lambda p, _: p.check_merges("HEAD~1..HEAD"),
    "outcome": lambda p, g: p.outcome(g.ref, "good"),
    "due": lambda p, _: p.due(),
    "work": lambda p, _: p.work(),
    "next_work": lambda p, _: p.next_work(3),
    "apply_work": lambda p, _: p.apply_work([{"id": "insight:latest", "digest": "0", "answer": 0}]),
    "test_model": lambda p, _: p.test_model(),
    "week": lambda p, _: p.week(),
    "names": lambda p, _: p.names("tags"),
    "why": lambda p, _: p.why("src/gear.py"),
    "tried": lambda p, g: p.tried(g.text, g.text),
    "verify": lambda p, g: p.verify(update=g.flag),
    "doctor": lambda p, _: p.doctor(),
    "flush": lambda p, _: p.flush(),
    "apps.remember": lambda p, g: p.apps.remember(g.app, g.text),
    "apps.all": lambda p, _: p.apps.all(),
    "apps.list": lambda p, g: p.apps.list(g.app),
    "apps.show": lambda p, g: p.apps.show(g.app, g.ref),
    "apps.context": lambda p, g: p.apps.context(g.app),
    "apps.compact": lambda p, g: p.apps.compact(g.app),
    "apps.delete": lambda p, g: p.apps.delete(g.app, g.ref, for_good=g.flag),
    "apps.purge": lambda p, g: p.apps.purge(g.app),
    "apps.uninstall": lambda p, g: p.apps.uninstall(g.app, purge=g.flag),
    "apps.stats": lambda p, _: p.apps.stats(),
    "apps.poll_energy": lambda p, _: p.apps.poll_energy(),
}
"""Each by its name, those of apps behind `apps.`."""

OPENING: Final = {"discover", "mine", "at", "apps", "close"}
"""They open a memory in another way, or let go of it, and answer nothing."""

BLOCKS: Final = ("build_context", "build_context for an app", "block", "query", "delta")
"""What is written for models."""

WHOLE: Final = (
    "add_question approve changelog check check_merges consolidate doctor import_arrays "
    "import_messages import_sessions provenance reject repair share sweep verify"
).split()
"""What takes in every category, and is refused to whoever has an allowlist."""


def public() -> set[str]:
    """Return the names of everything that the library offers."""
    own = {name for name in dir(Project) if not name.startswith("_")} - {"workspace"}
    return own | {f"apps.{name}" for name in dir(Apps) if not name.startswith("_")} - {
        "apps.workspace"
    }


def _waiting(project: Project, otherwise: str) -> str:
    """Return the id of the first thing that waits for consent."""
    return next((item.id for item in project.waiting().items), otherwise)
