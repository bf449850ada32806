"""How many examples a property test draws: a few on every change, all of them where there is time.

`make test` is for every change and draws an eighth of what a property asks for; `make thorough`
draws all of it.
"""

import os

IS_THOROUGH = bool(os.environ.get("PMEM_THOROUGH"))
REST = os.environ.get("PMEM_REST", "")
"""What `make test` leaves out: not tried (empty), tried as well (`too`), or alone (`only`)."""
_SHARE = 8


def examples(many: int = 100) -> int:
    """Return how many examples to draw of `many`."""
    return many if IS_THOROUGH else max(3, many // _SHARE)
