"""Where connections come in: a port or a socket's file."""

import asyncio
import os
import socket
import stat
from typing import Final

import h11
import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from pmem.errors import InvalidValue, Refused, StorageRefused
from pmem.server.http.guard import LOOPBACK
from pmem.values.bounds import HEADER_BYTES

PORT: Final = 7636
MOST_CONNECTIONS: Final = 256
"""Connections at a time; one that is too many is answered 503."""
IDLE_SECONDS: Final = 30
"""How long a connection stays open before a request begins."""
GOODBYE_SECONDS: Final = 3
"""How long answers that are under way may take when the server ends."""

_WAITING: Final = 2048
_ALL_PORTS: Final = 65535
_ANY: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - they are recognised, not used


class ListeningPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server listens: at a host's port, or at a socket's file."""

    host: str = LOOPBACK[0]
    port: int = PORT
    socket: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether other machines can reach it."""
        return self.socket is None and self.host not in LOOPBACK

    @property
    def names(self) -> tuple[str, ...]:
        """The names that clients may use for it."""
        own = () if self.host in _ANY or self.host in LOOPBACK else (self.host,)
        return (*LOOPBACK, *own)


class _ClosedWhenIdle(H11Protocol):
    """A connection that ends where its client asks nothing, or never ends to ask."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        timer, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None
        super().data_received(data)
        if timer is not None and self.conn.their_state is h11.IDLE:
            self.timeout_keep_alive_task = timer  # the headers are not whole yet
        elif timer is not None:
            timer.cancel()


def listen(place: ListeningPlace) -> socket.socket:
    """Open the socket that a server listens at: clients may connect, and wait to be served."""
    return _listen_at_port(place) if place.socket is None else _listen_at_file(place.socket)


def serve(application: ASGIApp, listener: socket.socket) -> None:
    """Answer requests until the process is told to end."""
    uvicorn.Server(configuration(application)).run([listener])


def configuration(application: ASGIApp) -> uvicorn.Config:
    """Return how uvicorn is to run."""
    return uvicorn.Config(
        application,
        http=_ClosedWhenIdle,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",  # what goes wrong is answered, and noted without secrets
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GOODBYE_SECONDS,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )


def _listen_at_port(place: ListeningPlace) -> socket.socket:
    if not 0 <= place.port <= _ALL_PORTS:
        raise InvalidValue(f"there is no port {place.port}", f"give one from 1 to {_ALL_PORTS}")
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InvalidValue(f"there is no host {place.host!r}: {error.strerror}") from None
    family, *_, address = found[0]
    both = address[0] == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(address, family=family, backlog=_WAITING, dualstack_ipv6=both)
    except OSError as error:
        raise InvalidValue(
            f"{place.host} port {place.port} cannot be had: {os.strerror(error.errno or 0)}",
            "name another with --port; 0 takes a free one",
        ) from None


def _listen_at_file(path: str) -> socket.socket:
    """Listen at a socket's file for its owner alone; one that nobody serves is replaced."""
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidValue("there are no unix sockets on this system", "leave out --socket")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        _remove_dead(path)
        listener.bind(path)
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        raise StorageRefused(f"{path} cannot be made: {error.strerror or error}") from None
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(mask)
    return listener


def _remove_dead(path: str) -> None:
    """Remove a socket's file that a server left behind."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refused(f"{path} is there, and is no socket", "name another file")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
        else:
            raise Refused(f"a server listens at {path} already", "name another file")
