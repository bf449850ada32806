"""How many examples a property test draws: a few on every change, all of them where there is time.

`make test` is for every change and draws an eighth of what a property asks for; `make thorough`
draws all of it.
"""

import os

IS_THOROUGH = bool(os.environ.get("PMEM_THOROUGH"))
IS_REST = bool(os.environ.get("PMEM_REST"))
"""Whether to try what `make test` leaves out, and nothing else."""
_SHARE = 8


def examples(many: int = 100) -> int:
    """Return how many examples to draw of `many`."""
    return many if IS_THOROUGH else max(3, many // _SHARE)
