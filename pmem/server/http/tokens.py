"""Tokens: whoever has one may ask, as the person, the agent or the app that it was made for.

Those of a memory folder stand in one file of the user's state folder, which nobody else may read.
"""

import hashlib
import os
import secrets
import stat
from collections.abc import Mapping
from typing import Final, Literal, get_args

import msgspec

from pmem.core.checks import MOST_WORD_CHARACTERS, text
from pmem.errors import (
    Damaged,
    FileNotRead,
    InvalidValue,
    NotFound,
    PmemError,
    Refused,
    StorageRefused,
)
from pmem.project.caller import Caller
from pmem.storage.files.durable import write_file
from pmem.storage.files.lock import writer_lock

Kind = Literal["person", "agent", "app"]

PREFIX: Final = "pmem_"
"""How every token begins, so that searches for secrets know one."""
VARIABLE: Final = "PMEM_TOKEN"
"""The environment's variable that holds a person's token, in place of the file's."""

_BYTES: Final = 32
_SHORTEST: Final = 20
_LOCK_SECONDS: Final = 5.0
_NAME_BYTES: Final = 8
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class TokenHolder(msgspec.Struct, frozen=True):
    """Whom a token is for: a person, an agent or an app of some name."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def is_person(self) -> bool:
        """Whether it is a person, who may do everything."""
        return self.kind == "person"

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return Caller(
            agent=self.name if self.kind == "agent" else None,
            app=self.name if self.kind == "app" else None,
        )


PERSON: Final = TokenHolder("person")


class AccessToken(msgspec.Struct, frozen=True):
    """A token, and whom it is for."""

    holder: TokenHolder
    secret: str


def holder_named(words: str) -> TokenHolder:
    """Return whom words mean.

    `person`, `agent:NAME` and `app:NAME` mean somebody.
    """
    kind, _, name = words.partition(":")
    if kind == "person" and not name:
        return PERSON
    if kind not in get_args(Kind) or kind == "person":
        raise InvalidValue(
            f"a token is for nobody called {words!r}", "say person, agent:NAME or app:NAME"
        )
    return TokenHolder(kind, text(name, f"the {kind}'s name", MOST_WORD_CHARACTERS))  # type: ignore[arg-type]


def file_of(root: str, environment: Mapping[str, str]) -> str:
    """Return where the tokens of a memory folder are kept."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or os.path.expanduser("~")
    state = environment.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    place = os.fsencode(os.path.realpath(root))
    name = hashlib.blake2b(place, digest_size=_NAME_BYTES).hexdigest()
    return os.path.join(state, "pmem", "tokens", f"{name}.json")


class Tokens:
    """The tokens of one memory folder, as their file has them now."""

    def __init__(self, path: str, given: str | None = None) -> None:
        if given is not None and len(given.encode()) < _SHORTEST:
            raise InvalidValue(
                f"{VARIABLE} has fewer than {_SHORTEST} bytes",
                "`pmem serve --token person` makes one",
            )
        self.path = path
        self._given = () if given is None else (AccessToken(PERSON, given),)

    def holder_of(self, presented: str) -> TokenHolder | None:
        """Return whom a token is for; None where there is none like it.

        Every token is compared, each in constant time, so that nothing can be told from how long
        that takes. The environment's counts whatever became of the file.
        """
        return _holder_in(self._given, presented) or _holder_in(self._all(), presented)

    def knows(self, holder: TokenHolder) -> bool:
        """Tell whether somebody has a token that counts."""
        if holder in (token.holder for token in self._given):
            return True
        try:
            return self._find(holder) is not None
        except PmemError:
            return False

    def token_of(self, holder: TokenHolder) -> AccessToken:
        """Return somebody's token; where there is none, one is made."""
        if holder.is_person and self._given:
            return self._given[0]
        known = self._find(holder)
        if known is not None:
            return known
        made = AccessToken(holder, PREFIX + secrets.token_urlsafe(_BYTES))
        return self._put(holder, made) or made

    def revoke(self, holder: TokenHolder) -> None:
        """Let somebody's token count no more; a server that runs knows at once."""
        if self._find(holder) is None:
            raise NotFound(f"there is no token for {holder}", "`--token WHO` makes one")
        self._put(holder, None)

    def _find(self, holder: TokenHolder) -> AccessToken | None:
        return next((token for token in self._all() if token.holder == holder), None)

    def _put(self, holder: TokenHolder, token: AccessToken | None) -> AccessToken | None:
        """Write a token, or that there is none, unless another process was quicker to make one."""
        folder = os.path.dirname(self.path)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with writer_lock(f"{self.path}.lock", _LOCK_SECONDS):
                known = self._find(holder)
                if token is not None and known is not None:
                    return known
                left = [each for each in self._all() if each.holder != holder]
                data = msgspec.json.encode([*left, token] if token else left)
                write_file(self.path, data + b"\n", mode=0o600)
        except OSError as error:
            raise StorageRefused(f"{self.path} cannot be written: {error.strerror}") from None
        return token

    def _all(self) -> tuple[AccessToken, ...]:
        """Return the tokens of the file.

        Raises:
            Refused: Others may read it.
            Damaged: It is none of pmem's.
            FileNotRead: It cannot be read.
        """
        try:
            with open(self.path, "rb") as file:
                mode, data = os.fstat(file.fileno()).st_mode, file.read()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise FileNotRead(f"{self.path} cannot be read: {error.strerror}") from None
        if os.name != "nt" and mode & _FOR_OTHERS:
            raise Refused(
                f"others may read the tokens in {self.path}",
                f"chmod 600 {self.path}, and revoke them",
            )
        try:
            return msgspec.json.decode(data, type=tuple[AccessToken, ...])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise Damaged(
                f"{self.path} does not hold tokens", "remove it; `pmem serve` makes another"
            ) from None


def _holder_in(tokens: tuple[AccessToken, ...], presented: str) -> TokenHolder | None:
    found = None
    for token in tokens:
        if secrets.compare_digest(token.secret.encode(), presented.encode()):
            found = token.holder
    return found
