"""Objectives: complement losses, class-balanced weights, and the released variant. ``tables`` lists them by name."""
