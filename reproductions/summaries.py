"""Short summaries, half of them with one edited fact: python reproductions/summaries.py [--model MODEL …].

Each summary is checked as a whole against its document. Two rules are measured: a summary is wrong where a sentence is
REFUTES, and where a sentence is not SUPPORTS. Balanced accuracy is the mean of the shares of right summaries passed and
of edited ones stopped. The file was written for this measurement and chose nothing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from adjudge import Verifier
from adjudge.serving.check.check import CheckOptions

HERE = Path(__file__).parent / "texts" / "summaries" / "summaries.jsonl"
RULES = ("refuted", "unsupported")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="+", default=["rules", "small"])
    parser.add_argument("--file", type=Path, default=HERE)
    parser.add_argument("--show", action="store_true", help="print the summaries that came out wrong")
    arguments = parser.parse_args()
    records = [json.loads(line) for line in arguments.file.read_text(encoding="utf-8").splitlines()]
    options = CheckOptions(markdown=False, marks=False)
    for model in arguments.model:
        verifier = Verifier.load(model, **({"selector": "lexical"} if model == "rules" else {}))
        right: dict[str, list[list[bool]]] = {rule: [[], []] for rule in RULES}
        for record in records:
            check = verifier.check(record["summary"], against=[record["document"]], options=options)
            for rule in RULES:
                stopped = bool(check.failures(rule))
                right[rule][record["edited"]].append(stopped == record["edited"])
                if arguments.show and stopped != record["edited"]:
                    states = [(sentence.state.value, sentence.text) for sentence in check.sentences]
                    print(f"  {record['id']} by {rule}: {states}")
        for rule, (passed, stopped) in right.items():
            balanced = (sum(passed) / len(passed) + sum(stopped) / len(stopped)) / 2
            print(
                f"{model}, wrong where {rule}: {sum(stopped)}/{len(stopped)} edited ones stopped, "
                f"{sum(passed)}/{len(passed)} right ones passed, balanced {balanced:.1%}"
            )


if __name__ == "__main__":
    main()
