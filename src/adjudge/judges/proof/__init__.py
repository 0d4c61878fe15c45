"""Proofs in natural logic (ProoFVer): what each part of a claim is to the evidence, and an automaton that decides."""
