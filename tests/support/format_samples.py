"""Two records of every format: one claim that page Rome supports, one that it refutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OLD, NEW = "Rome is old.", "Rome is new."


def _climate(number: str, claim: str, label: str) -> dict[str, Any]:
    sentence = {"evidence_id": "Rome:0", "article": "Rome", "evidence": OLD}
    return {"claim_id": number, "claim": claim, "claim_label": label, "evidences": [sentence]}


def _scifact(number: int, claim: str, label: str) -> dict[str, Any]:
    return {"id": number, "claim": claim, "evidence": {"Rome": [{"sentences": [0], "label": label}]}}


def _labelled(*evidence: Any) -> list[dict[str, Any]]:
    first, second = {"id": 1, "claim": OLD, "label": "SUPPORTS"}, {"id": 2, "claim": NEW, "label": "REFUTES"}
    return [first | {"evidence": list(evidence)}, second | {"evidence": list(evidence)}]


RECORDS: dict[str, list[dict[str, Any]]] = {
    "submission": [
        {"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [["Rome", 0]]},
        {"id": 2, "predicted_label": "REFUTES", "predicted_evidence": [["Rome", 0]]},
    ],
    "verdicts": [
        record | {"probabilities": {"SUPPORTS": 0.6, "REFUTES": 0.3, "NOT ENOUGH INFO": 0.1}}
        for record in _labelled({"text": OLD, "page": "Rome", "line": 0, "score": 1.0})
    ],
    "climate-fever": [_climate("1", OLD, "SUPPORTS"), _climate("2", NEW, "REFUTES")],
    "scifact": [_scifact(1, OLD, "SUPPORT"), _scifact(2, NEW, "CONTRADICT")],
    "kgat": _labelled(["Rome", 0, OLD, 1.0]),
    "pairs": _labelled(OLD),
    "fever": _labelled([[1, 2, "Rome", 0]]),
}


def write_sample(folder: Path, name: str) -> Path:
    """The two records of a format in a file."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS[name]))
    return path
