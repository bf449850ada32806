"""The page of `pmem report`, served: its empty shell, which asks for everything with a token."""

from typing import Final

from starlette.responses import HTMLResponse, Response

from pmem.server.http.event_stream import PATH as CHANGES
from pmem.server.http.operation_api import PREFIX

_INSTALL: Final = "pip install 'pmem-cli[report]'"
_MISSING: Final = f"The page needs the extra `report`: {_INSTALL}, and start `pmem serve` again.\n"
_NO_FRAMES: Final = "frame-ancestors 'none'"
"""Says that no other page may show this one as a part of itself, and lead somebody to click in it.
A page itself cannot say so."""


def is_installed() -> bool:
    """Tell whether what draws the page is there."""
    try:
        import pmem.report.page  # noqa: F401
    except ImportError:
        return False
    return True


def live_page() -> Response:
    """Return the answer to `GET /`: the page's shell, which holds nothing of the memory."""
    if not is_installed():
        return Response(_MISSING, 501, media_type="text/plain")
    from pmem.report.page import live_policy, render_live_page

    policy = f"{live_policy()}; {_NO_FRAMES}"
    return HTMLResponse(
        render_live_page(PREFIX, CHANGES), headers={"Content-Security-Policy": policy}
    )
