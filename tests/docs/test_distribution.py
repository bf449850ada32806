"""The distribution is `pmem-cli`; `pmem` on the package index is another project."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = re.compile(r"""\bpip install (?:-\S+ )*['"]?(pmem[\w-]*)""")
EXAMPLES = {"tests/core/sets/consent.txt"}  # words of a conversation


def test_the_distribution_has_its_own_name_and_the_command_keeps_its() -> None:
    assert PROJECT["name"] == "pmem-cli"
    assert PROJECT["scripts"] == dict.fromkeys(("pmem", "pmem-cli"), "pmem.cli:main")  # `uvx`


def test_extras_that_need_each_other_name_the_distribution() -> None:
    extras = PROJECT["optional-dependencies"]
    needed = [need for needs in extras.values() for need in needs if need.startswith("pmem")]
    assert needed
    assert all(need.startswith("pmem-cli[") for need in needed)


def test_whoever_is_told_to_install_pmem_is_told_the_right_name() -> None:
    listed = [
        "git",
        "ls-files",
        "*.md",
        ":!CHANGELOG.md",
        "*.py",
        "*.toml",
        "*.yaml",
        "*.txt",
        "Makefile",
    ]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    paths = set(names.stdout.split()) - EXAMPLES - {"tests/docs/test_distribution.py"}
    told = {
        (path, name)
        for path in paths
        for name in OURS.findall((ROOT / path).read_text(encoding="utf-8"))
    }
    assert {name for path, name in told} == {"pmem-cli"}, sorted(told)
