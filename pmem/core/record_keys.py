"""The keys by which memories are found: of what they say, are about, and are tied to."""

from collections.abc import Sequence

from pmem.core.filters import cited_symbols, fold
from pmem.core.lifecycle.neighbours import is_near
from pmem.core.outcomes import FIXES
from pmem.values.records import JUDGEMENTS, Memory, Record, State

NEAR_KEY = "near"
"""The key by which active memories are found that were linked as nearly the same as another one."""


def twin_keys(record: Record) -> tuple[str, ...]:
    """Return what memories are found by: app, subject, content, that they are nearly what another
    one says, whom they judge or fix, what proves them, and the symbols that they cite.
    """
    if isinstance(record, Memory) and record.state is State.ARCHIVED:
        return (archived_key(record.content),)
    if not isinstance(record, Memory) or record.state is not State.ACTIVE:
        return ()
    app = (app_key(record.scope.app),) if record.scope.app else ()
    tied = set(map(proven_key, record.evidence)) | set(map(symbol_key, cited_symbols(record)))
    if record.relationships:
        tied |= {
            judged_key(link.target) for link in record.relationships if link.type in JUDGEMENTS
        }
        tied |= {fixed_key(link.target) for link in record.relationships if link.type == FIXES}
    subject = (subject_key(record.subject),) if record.subject else ()
    near = (NEAR_KEY,) if near_ends(record) else ()
    return (*app, *subject, content_key(record.content), *near, *sorted(tied))


def near_ends(record: Record) -> tuple[str, ...]:
    """Return the ids of what an active memory was linked to as nearly the same."""
    if not isinstance(record, Memory) or record.state is not State.ACTIVE:
        return ()
    links = record.relationships
    return tuple(dict.fromkeys(link.target for link in links if is_near(link))) if links else ()


def subject_key(subject: str) -> str:
    """Return the key by which active memories on a subject are found."""
    return f"subject:{fold(subject)}"


def content_key(content: str) -> str:
    """Return the key by which active memories of a content are found."""
    return f"content:{fold(content)}"


def judged_key(identifier: str) -> str:
    """Return the key by which active memories are found that judge another: update it, say."""
    return f"judges:{identifier}"


def fixed_key(identifier: str) -> str:
    """Return the key by which active memories are found that fix another: a dead end."""
    return f"fixes:{identifier}"


def proven_key(evidence: str) -> str:
    """Return the key by which active memories are found that name something as their evidence."""
    return f"proven:{evidence}"


def symbol_key(symbol: str) -> str:
    """Return the key by which active memories are found that cite a symbol."""
    return f"symbol:{symbol}"


def archived_key(content: str) -> str:
    """Return the key by which archived memories of a content are found."""
    return f"archived:{fold(content)}"


def app_key(app: str) -> str:
    """Return the key by which the active memories of an app are found."""
    return f"app:{app.casefold()}"


def word_keys_of(record: Record) -> Sequence[str]:
    """Return the words by which active memories are found alike: `core.lifecycle.candidates`."""
    if not isinstance(record, Memory) or record.state is not State.ACTIVE:
        return ()
    from pmem.core.lifecycle.candidates import word_keys

    return word_keys(record.content, record.scope)
