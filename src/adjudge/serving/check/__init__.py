"""Whole texts checked, sentence by sentence: what is judged, what comes out, and how it is shown."""
