"""The HTTP server: one process, one model, requests that arrive together judged together (extra ``serve``).

``create_app`` in :mod:`adjudge.serving.server.app` makes the application. ``app.state.engine`` is what everything that
answers requests works with, the page too: its methods take and give the records of the library.
"""
