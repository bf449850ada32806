"""What every test stands on: no real home, no settings from outside, a folder of its own."""

import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from pmem.project.configuration import PACKAGE
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.storage.postgres.server import Server
from tests.effort import IS_THOROUGH, REST, examples
from tests.once import Once, built_once
from tests.postgres import TestDatabase, any_server, database
from tests.vocabulary import hide_library

NOW = datetime(2026, 11, 21, 14, 30, 0, 250_000, tzinfo=UTC)
REAL_HOME = os.path.expanduser("~")
_LEFT = "PATH TMPDIR TEMP TMP HOME USERPROFILE SYSTEMROOT COMSPEC PATHEXT LD_LIBRARY_PATH".split()
_LEFT_PREFIXES = ("PMEM_", "UPDATE_", "PYTEST_", "PYTHON", "COVERAGE_", "DYLD_")
_SAME_EVERYWHERE = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_IGNORED_BY_PYTHON = {getattr(signal, name, None) for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ")}
_DROPPED = "-dac_override,-dac_read_search"
_COMMON = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]

_MEMORY = "/dev/shm"
_ROOM = 4 << 30  # bytes

if os.path.isdir(_MEMORY) and shutil.disk_usage(_MEMORY).free > _ROOM:
    tempfile.tempdir = os.environ.setdefault("TMPDIR", _MEMORY)  # no test waits for a disk

settings.register_profile(
    "seeded",
    deadline=None,
    suppress_health_check=_COMMON,
    max_examples=examples(),
    derandomize=False,
    database=None,
    print_blob=True,
)
settings.register_profile("fixed", settings.get_profile("seeded"), derandomize=True)


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples each time: the fixed ones, or those of a seed that is given."""
    seeded = config.getoption("--hypothesis-seed") is not None
    settings.load_profile("seeded" if seeded else "fixed")
    # Hypothesis draws constants of the modules that are imported; those depend on earlier tests.
    monkeypatch = pytest.MonkeyPatch()
    config.add_cleanup(monkeypatch.undo)
    monkeypatch.setattr(providers, "is_local_module_file", lambda path: False)


def pytest_sessionstart() -> None:
    """Leave nothing in the environment that differs from one person or machine to another."""
    for name in list(os.environ):
        if name not in _LEFT and not name.startswith(_LEFT_PREFIXES):
            del os.environ[name]
    own = os.path.dirname(sys.executable)  # where an installed pmem is, for git to find it
    os.environ["PATH"] = os.pathsep.join((own, os.environ.get("PATH", os.defpath)))
    os.environ.update(_SAME_EVERYWHERE)
    os.umask(0o022)
    if hasattr(time, "tzset"):
        time.tzset()
    for number in signal.valid_signals() - _IGNORED_BY_PYTHON:
        if signal.getsignal(number) is signal.SIG_IGN:  # as `make test &` starts in a script
            is_interrupt = number is signal.SIGINT
            signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let the garbage collector pass over what is collected: it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a quarter of the time tests wait for what they started."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs other programs or takes long, and all but a sample of many cases."""
    if IS_THOROUGH:
        return
    outside = {item for item in items if "outside" in _marks(item)}
    is_exploring = config.getoption("--hypothesis-seed") is not None
    rest = set() if is_exploring else _rest(items) - outside
    kept = rest if REST == "only" else set(items) - outside - (set() if REST else rest)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _rest(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return what is for `make rest`: what takes long, and most of many cases."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if "some" in _marks(item):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    beyond = {item for group in cases.values() for item in _beyond_a_sample(group)}
    return beyond | {item for item in items if "long" in _marks(item)}


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def _beyond_a_sample(items: list[pytest.Item]) -> list[pytest.Item]:
    mark = items[0].get_closest_marker("some")
    assert mark is not None
    most = min(mark.args[0], len(items))
    kept = {place * len(items) // most for place in range(most)}
    return [item for place, item in enumerate(items) if place not in kept]


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test an empty home and folder; fail it when it touched the real home."""
    for name in list(os.environ):
        if name.startswith("PMEM_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    hide_library(monkeypatch)
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # what the extra `vectors` brings
    monkeypatch.chdir(work)
    before = _traces(REAL_HOME)
    yield
    assert before == _traces(REAL_HOME), "the test wrote into the real home"


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Return a memory folder as a clone has it, with nothing of its own."""
    folder = str(tmp_path / "work" / ".project-memory")
    initialise(folder)
    shutil.rmtree(os.path.join(folder, "local"))
    return folder


@pytest.fixture
def once(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Return what builds a folder's content once and copies it from then on."""
    return built_once(tmp_path, tmp_path_factory.getbasetemp() / "built")


@pytest.fixture
def workspace(root: str) -> Workspace:
    """Return an open memory folder with a fixed clock."""
    return Workspace(root, actor="tester", now=NOW)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Return the address of a PostgreSQL server, with braces where the database's name belongs."""
    with any_server() as address:
        yield address


@pytest.fixture(scope="session")
def test_database(postgres_server: str) -> Iterator[TestDatabase]:
    """Return a database that the tests of a process share, each with projects of its own."""
    with database(postgres_server) as made:
        yield made


@pytest.fixture
def new_project(test_database: TestDatabase) -> Iterator[Callable[[], Server]]:
    """Return what makes an empty project on a server."""
    made: list[Server] = []

    def make() -> Server:
        made.append(Server(test_database.address, test_database.new_project(), lambda: 5.0))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture(scope="session")
def plain() -> tuple[str, ...]:
    """Return what runs a command so that permissions count, for root as well."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root ignores permissions, and there is no setpriv to drop that")
    return ("setpriv", f"--bounding-set={_DROPPED}", "--inh-caps=-all", "--")


def _traces(home: str) -> list[tuple[str, float]]:
    """Return what pmem would leave in a home: its configuration and memory folders."""
    places = (".config/pmem", ".config/pmem/config.toml", ".project-memory")
    paths = [os.path.join(home, place) for place in places]
    return [(path, os.stat(path).st_mtime) for path in paths if os.path.lexists(path)]
