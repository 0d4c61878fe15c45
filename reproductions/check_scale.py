"""Time and stability of a check: python reproductions/check_scale.py [--model MODEL …].

40 sentences of the texts in reproductions/texts against 200 documents: their own, and pages of a made-up encyclopedia
that have nothing to do with them. Time is measured after the index, the second time the text is checked. Stability: how
many sentences of all texts change their state when the other pages join their own documents.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from adjudge import Verifier
from adjudge.data.world import generate
from adjudge.retrieval import build_index
from adjudge.retrieval.embedding import automatic_vectors
from adjudge.serving.check.check import CheckOptions
from texts import HERE, read_text

DOCUMENTS = 200
SENTENCES = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="+", default=["small", "fever"])
    arguments = parser.parse_args()
    own = sorted(HERE.glob("*.md"))
    sentences = [sentence for path in sorted(HERE.glob("*.txt")) for _, sentence in read_text(path)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        others = folder / "others"
        others.mkdir()
        for number, page in enumerate(generate(claims=300, seed=11).pages[: DOCUMENTS - len(own)]):
            text = " ".join(sentence.text for sentence in page.sentences)
            (others / f"page-{number}.txt").write_text(text, encoding="utf-8")
        vectors = automatic_vectors()
        build_index(own, folder / "few", vectors=vectors)
        build_index([*own, others], folder / "many", vectors=vectors)
        for model in arguments.model:
            verifier = Verifier.load(model)
            page = "\n\n".join(sentences[:SENTENCES])
            options = CheckOptions(markdown=False)
            verifier.check(page, folder / "many", options=options)
            verifier.clear_cache()
            started, cpu = time.perf_counter(), time.process_time()
            check = verifier.check(page, folder / "many", options=options)
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
            size = f"{len(check.sentences)} sentences, {DOCUMENTS} documents"
            print(f"{model}: {size}: {seconds:.1f} s ({cpu:.1f} s of CPU)")
            whole = "\n\n".join(sentences)
            options = CheckOptions(markdown=False, marks=False)
            few, many = (verifier.check(whole, folder / part, options=options) for part in ("few", "many"))
            pairs = list(zip(few.sentences, many.sentences, strict=True))
            changes = [(one.text, one.state, other.state) for one, other in pairs if one.state != other.state]
            print(
                f"{model}: {len(changes)} of {len(pairs)} states change when {DOCUMENTS - len(own)} other pages join"
            )


if __name__ == "__main__":
    main()
