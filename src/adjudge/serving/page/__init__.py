"""The page at ``/``: a text or a claim checked, the documents beside it, and why each verdict came out.

The server includes :data:`router` and serves the folder ``static``. Templates are rendered with everything escaped; the
scripts only put what the server rendered in its place, so that one claim works without them.
"""

from adjudge.serving.page.routes import router

__all__ = ["router"]
