"""A storm of links: processes that link, unlink, supersede, merge and purge a few memories at once.

`python -m tests.faults.tangle FOLDER SEED COUNT` is one of them; it prints what was acknowledged.
"""

import json
import sys
from random import Random
from typing import Final

from pmem import Project
from pmem.errors import PmemError

TEXTS: Final = (
    "The cache is kept in memory",
    "the cache is kept in memory.",
    "Deploys happen on Friday",
    "The queue holds ten jobs",
)
FEW: Final = 6
"""So few memories are there at a time that the processes always meet."""


def main(folder: str, seed: int, count: int) -> None:
    """Do random things to random memories, each as an actor of its own."""
    dice = Random(seed)
    for number in range(count):
        actor = f"w{seed}-{number}"
        project = Project(folder, actor=actor)
        try:
            done = _do(project, dice)
        except PmemError:
            continue
        sys.stdout.write(json.dumps({"actor": actor, **done}) + "\n")


def _do(project: Project, dice: Random) -> dict[str, object]:
    """Do one thing; return the records whose histories tell of it, and what went for good."""
    ids = [memory.id for memory in project.workspace.memories.find()]
    if len(ids) < FEW:
        return {"changed": [project.add(dice.choice(TEXTS), force=True).memory.id]}
    one, other = dice.sample(ids, 2)
    deed = dice.randrange(8)
    if deed < 3:
        return {"changed": [project.link(one, other, strength=dice.random()).id]}
    if deed == 3:
        return {"changed": [project.unlink(one, other).id]}
    if deed == 4:
        done = project.supersede(one, f"{dice.choice(TEXTS)}, {dice.random():.6f}")
        return {"changed": [done.memory.id, done.superseded.id]}
    if deed == 5:
        pair = project.supersede_by(one, other)
        return {"changed": [pair.memory.id, pair.superseded.id]}
    if deed == 6:
        project.consolidate()
        return {"changed": []}
    return {"changed": [], "gone": [record.id for record in project.purge(one, force=True)]}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
