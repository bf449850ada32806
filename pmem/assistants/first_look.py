"""Is there surely nothing to say of a tool's call, or a prompt? A look that loads next to nothing.

Most calls touch what no memory is about, or what was said before. Only where something may be to
be said, or where that cannot be told at once, is the memory opened (see decision 49).
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence

from pmem.assistants.tool_calls import ToolFile
from pmem.storage.files.worktree import in_main_tree, name_in, own_folder, project_top
from pmem.storage.git.tracked import foreign
from pmem.storage.index.applying import applying, mentions, proven
from pmem.storage.local.shown_keys import (
    MOST_TOUCHED,
    known_at_once,
    stop_key_of,
    touch_key_of,
    touched_count,
)

_LEAST_TERMS = 2
_STOPS = b'"stops_edits"'


def named(near: str, here: str, files: Iterable[ToolFile]) -> list[ToolFile]:
    """Return files by their names in the project, without those that are not in it.

    A path that is not absolute begins at `here`.
    """
    top = project_top(near)
    found = []
    for each in files:
        name = name_in(top, os.path.join(here, each.path))
        if name:
            found.append(ToolFile(name, is_edit=each.is_edit, texts=each.texts, lines=each.lines))
    return found


def is_own(folder: str, environment: Mapping[str, str]) -> bool:
    """Tell whether what a clone keeps for itself is there, and did not come with the project."""
    return not foreign(folder, environment)


def ids_to_tell(
    folder: str, thread: str, files: Sequence[str], *, tells: bool, may_stop: bool
) -> tuple[str, ...] | None:
    """Return the memories that apply to files, unless a thread has surely been told of all.

    Where the call `tells` nothing, only what may stop it counts.

    Returns:
        Ids; nothing where there is nothing to say, and None where that cannot be told at once.
    """
    found = applying(folder, files)
    if not found:
        return None if found is None else ()
    known = known_at_once(in_main_tree(folder), thread) if thread else frozenset()
    stoppers = (id_ for id_, data in found.items() if _STOPS in data)
    if may_stop and any(stop_key_of(id_) not in known for id_ in stoppers):
        return tuple(found)
    if not tells or touched_count(known) >= MOST_TOUCHED:
        return ()
    keys = {touch_key_of(id_, json.loads(data)["content"]) for id_, data in found.items()}
    return () if keys <= known else tuple(found)


def ids_of_error(folder: str, evidence: Sequence[str]) -> tuple[str, ...] | None:
    """Return the memories that name an error as their evidence; None where that cannot be told.

    `evidence` is what `error_fingerprint.evidence_of` returns.
    """
    found = proven(folder, evidence)
    return None if found is None else tuple(found)


def asks_nothing(prompt: str) -> bool:
    """Tell whether a prompt has too few words to look for; a question, none."""
    from pmem.core.text.terms import terms

    return len(set(terms(prompt))) < _LEAST_TERMS - ("?" in prompt)


def has_no_answer(folder: str, prompt: str, environment: Mapping[str, str]) -> bool:
    """Tell whether surely no memory answers a prompt, nor one of whoever asks: none shares a word.

    What a search looks for (`retrieval.evidence`) is looked for here.
    """
    from pmem.core.retrieval.forms import spelt_otherwise, starts
    from pmem.core.retrieval.question import plan_question, searched_part

    if asks_nothing(prompt):
        return True
    plan = plan_question(searched_part(prompt), speakers={}, related_weight=1.0)
    formed = () if plan.is_english else plan.asked
    wanted = {each.term for each in plan.everything}.union(*map(spelt_otherwise, formed))
    begun = {start for term in formed for start in starts(term)}
    own = own_folder(environment)
    folders = [folder, *[own] * os.path.isdir(own)]
    return all(
        is_own(each, environment) and mentions(each, wanted, begun) is False for each in folders
    )
