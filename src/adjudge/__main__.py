"""``python -m adjudge``, and the command ``adjudge``."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the command line and run it; whoever interrupts even that gets no traceback."""
    try:
        from adjudge.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("adjudge: interrupted.\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
