"""Judges: a claim and its evidence in, a verdict out. ``registry`` lists them by name."""
