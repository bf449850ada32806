"""The workflows that run elsewhere fit the project: its versions, its targets, least rights."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).parents[2]
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (TOP / ".github" / "workflows").iterdir()
}


def _steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_every_python_version_that_the_package_names_is_tested_on_every_system() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one.rpartition(":: ")[2] for one in project["classifiers"] if ":: 3." in one]
    matrix = WORKFLOWS["tests.yml"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert project["requires-python"] == f">={named[0]}"
    assert {one.partition("-")[0] for one in matrix["os"]} == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_reads_the_repository_and_no_more(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {"contents": "read"}
    rights = {key: job.get("permissions") for key, job in workflow["jobs"].items()}
    assert {key: value for key, value in rights.items() if value} == (
        {"publish": {"id-token": "write"}} if name == "release.yml" else {}
    )
    assert "secrets." not in (TOP / ".github" / "workflows" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_job_ends_and_every_action_has_a_version(name: str) -> None:
    assert all(job["timeout-minutes"] <= 60 for job in WORKFLOWS[name]["jobs"].values())
    for step in _steps(WORKFLOWS[name]):
        assert "@" in step["uses"] if "uses" in step else step["run"]


def test_the_make_targets_and_files_that_workflows_name_are_there() -> None:
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    commands = [
        step["run"] for each in WORKFLOWS.values() for step in _steps(each) if "run" in step
    ]
    targets = [word for line in commands if line.startswith("make ") for word in line.split()[1:]]
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for script in re.findall(r"\bdocs/\S+\.sh", " ".join(commands)):
        assert (TOP / script).is_file()
