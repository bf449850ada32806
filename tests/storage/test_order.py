"""In which order the files of one commit change, for readers that take no lock."""

import os
from typing import Any
from unittest import mock

from pmem.storage.files import durable
from pmem.storage.files.durable import FileChange


def test_what_is_new_comes_first_and_what_is_removed_goes_last(tmp_path: os.PathLike[str]) -> None:
    root = os.fspath(tmp_path)
    local = os.path.join(root, "local")
    os.mkdir(local)
    for name in ("a-gone.json", "b-old.json"):
        with open(os.path.join(root, name), "wb") as file:
            file.write(b"1")
    changes = [
        FileChange("a-gone.json", None),
        FileChange("b-old.json", b"2"),
        FileChange("c-new.json", b"3"),
    ]
    done: list[str] = []

    def noting(name: str) -> Any:
        def act(*paths: str) -> None:
            if os.path.dirname(paths[-1]) == root:
                done.append(os.path.basename(paths[-1]))
            real(*paths)

        real = getattr(os, name)
        return mock.patch(f"os.{name}", side_effect=act)

    with noting("replace"), noting("unlink"):
        durable.apply(root, local, changes)
    assert done == ["c-new.json", "b-old.json", "a-gone.json"]
