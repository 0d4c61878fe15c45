"""Planted errors in whole texts: python reproductions/texts.py [--model MODEL …] [--folder FOLDER].

A folder has documents (NAME.md) and texts about them (NAME.txt), a sentence to a line; a line that begins with
`!kind|` has an error of that kind. Each text is checked against all documents of the folder. An error is found where
its sentence is REFUTES (or, for invented details, anything but SUPPORTS); a right sentence that is REFUTES is a false
alarm. `unsupported` counts whatever is not SUPPORTS, on both sides: what `--fail-on unsupported` would stop.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from adjudge import Verifier
from adjudge.data.clauses import split_by_rules
from adjudge.serving.check.check import CheckOptions, documents_index
from adjudge.serving.check.records import CheckedSentence, State

HERE = Path(__file__).parent / "texts"
FACTS = ("number", "date", "name", "unit")
INVENTED = "invented"


@dataclass
class Tally:
    found: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    unsupported: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    right: list[State] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, kind: str, sentence: CheckedSentence) -> None:
        state = sentence.state
        if not kind:
            self.right.append(state)
            return
        refuted = state is State.REFUTES
        self.unsupported[kind].append(state is not State.SUPPORTS)
        self.found[kind].append(refuted or (kind == INVENTED and state is not State.SUPPORTS))


def read_text(path: Path) -> list[tuple[str, str]]:
    """(kind of error or nothing, sentence) of each line."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [line[1:].split("|", 1) if line.startswith("!") else ["", line] for line in lines]
    return [(kind, sentence) for kind, sentence in pairs]


def measure(verifier: Verifier, folder: Path, split: bool, show: bool = False) -> Tally:
    tally = Tally()
    options = CheckOptions(markdown=False, splitter=split_by_rules if split else None, marks=False)
    with documents_index(sorted(folder.glob("*.md")), verifier.settings.selector != "lexical") as index:
        for path in sorted(folder.glob("*.txt")):
            lines = read_text(path)
            started = time.perf_counter()
            check = verifier.check("\n\n".join(sentence for _, sentence in lines), index, options=options)
            tally.seconds += time.perf_counter() - started
            assert [sentence.text for sentence in check.sentences] == [sentence for _, sentence in lines], (
                path
            )
            for (kind, _), sentence in zip(lines, check.sentences, strict=True):
                tally.add(kind, sentence)
                if show and (bool(kind) != (sentence.state is State.REFUTES)):
                    best = (
                        sentence.parts[0].evidence[0].text
                        if sentence.parts and sentence.parts[0].evidence
                        else ""
                    )
                    print(f"   {kind or '-':10s} {sentence.state.value:16s} {sentence.text}  « {best}")
    return tally


def report(name: str, tally: Tally) -> dict[str, object]:
    found = [hit for hits in tally.found.values() for hit in hits]
    facts = [hit for kind in FACTS for hit in tally.found.get(kind, ())]
    caught = [hit for hits in tally.unsupported.values() for hit in hits]
    right = Counter(tally.right)
    total = len(tally.right)
    unsupported = total - right[State.SUPPORTS] - right[State.NOT_CHECKED]
    print(
        f"{name}: {sum(found)}/{len(found)} errors found ({sum(found) / len(found):.0%}), "
        f"{100 * right[State.REFUTES] / total:.1f} false alarms per 100 right sentences; "
        f"numbers, dates, names {sum(facts)}/{len(facts)}; "
        f"unsupported: {sum(caught)}/{len(caught)} errors, {100 * unsupported / total:.1f} per 100 right; "
        f"{tally.seconds:.1f} s"
    )
    kinds = {kind: f"{sum(hits)}/{len(hits)}" for kind, hits in sorted(tally.found.items())}
    print("   " + ", ".join(f"{kind} {share}" for kind, share in kinds.items()))
    return {"name": name, "found": sum(found), "errors": len(found), "kinds": kinds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="+", default=["rules", "small", "fever"])
    parser.add_argument("--folder", type=Path, default=HERE)
    parser.add_argument("--show", action="store_true", help="print the sentences that came out wrong")
    parser.add_argument("--no-split", action="store_true", help="also measure sentences judged whole")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    records = []
    for model in arguments.model:
        settings = {"selector": "lexical"} if model == "rules" else {}
        verifier = Verifier.load(model, **settings)
        records.append(report(f"{model}, split", measure(verifier, arguments.folder, True, arguments.show)))
        if arguments.no_split:
            records.append(report(f"{model}, whole", measure(verifier, arguments.folder, False)))
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
