"""``python -m adjudge``, as torchrun starts it."""

from adjudge.cli import main

main()
