"""Knowing where locks may be weaker than they seem."""

from pathlib import Path

import pytest

from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.storage.files.lock import is_shared, kind_of
from pmem.upkeep import doctor
from pmem.upkeep.doctor import DoctorRequest
from tests.asking import ask

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 22 0:40 / {place} rw - tmpfs tmpfs rw
32 31 0:41 / {place}/net\\040work rw master:2 shared:4 - nfs4 server:/home rw,vers=4.2
33 31 0:42 / {place}/fuse rw - fuse.sshfs me@there: rw
34 33 0:43 / {place}/fuse rw - ext4 /dev/sdb1 rw
a line that is none
"""


@pytest.fixture
def mounts(tmp_path: Path) -> str:
    path = tmp_path / "mountinfo"
    path.write_text(TABLE.format(place=str(tmp_path).replace(" ", "\\040")))
    return str(path)


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("..", "ext4"),
        (".", "tmpfs"),
        ("net", "tmpfs"),
        ("net work", "nfs4"),
        ("net work/project", "nfs4"),
        ("net works", "tmpfs"),
        ("fuse", "ext4"),
    ],
)
def test_the_nearest_and_latest_mount_counts(
    mounts: str, tmp_path: Path, folder: str, kind: str
) -> None:
    assert kind_of(str(tmp_path / folder), mounts) == kind


def test_a_system_without_such_a_table_tells_nothing(tmp_path: Path) -> None:
    assert kind_of(str(tmp_path), str(tmp_path / "none")) is None


SHARED = ("nfs", "nfs4", "cifs", "smb3", "fuse", "fuse.sshfs", "9p")
OTHERS = ("ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", "apfs")


@pytest.mark.parametrize("kind", [*SHARED, *OTHERS])
def test_file_systems_of_several_computers_are_known(kind: str) -> None:
    assert is_shared(kind) == (kind in SHARED)


def test_doctor_tells_of_weak_locks(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> tuple[bool, str]:
        return next(
            (item.ok, item.detail)
            for item in ask(workspace, table.DOCTOR, DoctorRequest()).items
            if item.name == "writable"
        )

    monkeypatch.setattr(doctor, "kind_of", lambda folder: "nfs4")
    ok, detail = told()
    assert ok
    assert "on nfs4 a lock may not exclude other computers" in detail
    monkeypatch.setattr(doctor, "kind_of", lambda folder: "ext4")
    assert "exclude" not in told()[1]
