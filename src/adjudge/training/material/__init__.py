"""Training material made by rule: facts of ordinary documents, and claims made of sentences of any text."""
