"""The sample documents and their examples."""

from __future__ import annotations

import hashlib

from adjudge.serving.page.samples import examples_for, sample_documents


def test_examples_are_offered_where_their_documents_are() -> None:
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sample_documents()}
    every = examples_for(hashes.values())
    assert len(every) == 3 and {example.document for example in every} <= set(hashes)
    bridge = examples_for([hashes["ellery-bridge.md"]])
    assert [example.document for example in bridge] == ["ellery-bridge.md"]
    assert examples_for(["0" * 64]) == []


def test_the_facts_that_the_examples_get_wrong_are_in_the_documents() -> None:
    content = "".join(file.read_text("utf-8") for file in sample_documents())
    texts = "".join(example.text for example in examples_for(_hashes()))
    for right, wrong in (
        ("14 May 1932", "1934"),
        ("186 metres", "168"),
        ("48 crowns", "84"),
        ("Bergen", "Hamburg"),
    ):
        assert right in content and wrong not in content and wrong in texts


def _hashes() -> set[str]:
    return {hashlib.sha256(file.read_bytes()).hexdigest() for file in sample_documents()}
