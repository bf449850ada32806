"""Making the vectors of everything kept, and asking them how near texts are to a question."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from pmem.core.retrieval.meaning import (
    Nearness,
    cosine,
    embedded_texts,
    unpack_vector,
    vector_key,
)
from pmem.core.retrieval.pool import DocumentKey, Pool
from pmem.embedding.embedders import Embedder, EmbeddingFailed, embed, embedder_of
from pmem.errors import Damaged, NotFound, PmemError, StorageRefused
from pmem.project.workspace import Workspace
from pmem.storage.git.tracked import LOCAL
from pmem.storage.index.vectors import Vectors, open_vectors
from pmem.values.records import RecordType

BATCH: Final = 64
"""Texts that are embedded and kept together: what is cut short loses no more."""
_WORDS: Final = "ranked by words alone"


class EmbeddedCount(NamedTuple):
    """How many texts there are, and how many of them have a vector of the model in use."""

    texts: int
    embedded: int


def embed_missing(workspace: Workspace) -> None:
    """Make the vectors that are missing, and drop those of texts that are gone.

    Does nothing unless the settings choose a model. What goes wrong is told in `workspace.notes`:
    no other work fails with it.

    Args:
        workspace: Whose records; its own `local` folder keeps the vectors.
    """
    if not workspace.settings.vectors.model:
        return
    try:
        embedder = embedder_of(workspace.settings.vectors)
        with open_vectors(_local(workspace), writes=True) as vectors:
            made = _embed_all(embedder, vectors, _all_texts(workspace))
    except (EmbeddingFailed, PmemError) as error:
        note(workspace, f"{error}; not everything is embedded")
        return
    if made:
        note(workspace, f"{made} text{'s' * (made != 1)} embedded by {embedder.model}")


def nearness_to(workspace: Workspace, question: str, pool: Pool) -> Nearness:
    """Return what says how near documents are to a question; nothing where it cannot.

    The question is embedded once, and only if a document that is asked about has a vector.

    Args:
        workspace: Where the documents are.
        question: What is asked.
        pool: Knows where each document is kept.
    """
    asked: list[tuple[float, ...]] = []

    def nearness(numbers: Collection[int]) -> Mapping[int, float]:
        try:
            embedder = embedder_of(workspace.settings.vectors)
            known = _known(workspace, embedder.model, pool.places(numbers))
            if known and not asked:
                asked.append(unpack_vector(embed(embedder, [question], "query")[0]))
        except (EmbeddingFailed, PmemError) as error:
            note(workspace, f"{error}; {_WORDS}")
            return {}
        near = {number: cosine(asked[0], vector) for number, vector in known.items()}
        return {number: value for number, value in near.items() if value is not None}

    return nearness


def embedded_count(workspace: Workspace) -> EmbeddedCount:
    """Count the texts and those of them that are embedded.

    Raises:
        EmbeddingFailed: The model is not installed, or not known.
        PmemError: The vectors cannot be read.
    """
    model = embedder_of(workspace.settings.vectors).model
    keys = {vector_key(model, text) for text in _all_texts(workspace)}
    with open_vectors(_local(workspace), writes=False) as vectors:
        return EmbeddedCount(len(keys), len(keys & vectors.keys()))


def note(workspace: Workspace, text: str) -> None:
    """Tell whoever asks something about vectors, once."""
    told = f"vectors: {text}"
    if told not in workspace.notes:
        workspace.notes.append(told)


def _embed_all(embedder: Embedder, vectors: Vectors, texts: Iterable[str]) -> int:
    """Embed what has no vector yet; return how many texts that were."""
    kept, model = vectors.keys(), embedder.model
    by_key = {vector_key(model, text): text for text in texts}
    vectors.forget(kept - by_key.keys())
    missing = [(key, text) for key, text in by_key.items() if key not in kept]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        made = embed(embedder, [text for _, text in batch], "passage")
        vectors.keep(dict(zip((key for key, _ in batch), made, strict=True)))
    return len(missing)


def _known(
    workspace: Workspace, model: str, places: Mapping[int, DocumentKey]
) -> dict[int, tuple[float, ...]]:
    """Return the vectors of documents as they are now, by number."""
    keys = {number: vector_key(model, text) for number, text in _texts_at(workspace, places)}
    with open_vectors(_local(workspace), writes=False) as vectors:
        found = vectors.find(set(keys.values()))
    return {number: unpack_vector(found[key]) for number, key in keys.items() if key in found}


def _texts_at(workspace: Workspace, places: Mapping[int, DocumentKey]) -> Iterator[tuple[int, str]]:
    """Read documents, each record once; what vanished meanwhile is left out."""
    records: dict[tuple[RecordType, str], dict[str, str]] = {}
    for number, place in places.items():
        where = (place.type, place.record)
        if where not in records:
            records[where] = _texts_of(workspace, *where)
        if place.id in records[where]:
            yield number, records[where][place.id]


def _texts_of(workspace: Workspace, type_: RecordType, identifier: str) -> dict[str, str]:
    try:
        return dict(embedded_texts(workspace.store(type_).get(identifier)))
    except (NotFound, Damaged, StorageRefused):
        return {}


def _all_texts(workspace: Workspace) -> Iterator[str]:
    """Yield what is embedded of everything that is kept."""
    for store in workspace.stores:
        for record in store.find():
            yield from (text for _, text in embedded_texts(record))


def _local(workspace: Workspace) -> str:
    return os.path.join(workspace.own.root, LOCAL)
