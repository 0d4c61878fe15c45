"""An answer about a bridge, and the text it was written from; what is right and wrong in it is known."""

CONTEXT = [
    "The Vel bridge was opened in 1932. It is 120 metres long.",
    "Otto Brandt was the mayor of Dormund.",
]
RIGHT = "The Vel bridge was opened in 1932."
HALF = "The Vel bridge was opened in 1932. The Vel bridge is 95 metres long."
QUESTION = "How long is the Vel bridge?"
