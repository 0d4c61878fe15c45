"""Whole-number inference: our int16 layers beside PyTorch's and onnxruntime's int8, for speed and changed labels.

    python benchmarks/bench_quantised.py --claims 300 --rounds 3 --json quantised.json

One trained model, the same claims, one thread, processor time. PyTorch's dynamic quantisation replaces the linear
layers of our encoder, which runs without padding; onnxruntime runs the exported encoder on padded rows, claims of
similar length together. It takes part where onnxruntime, onnx and onnxscript are installed.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from adjudge.data.formats import read_examples
from adjudge.encoders.backbone import Encoded
from adjudge.encoders.batch import Batch
from adjudge.encoders.dataset import Dataset, tokenize
from adjudge.encoders.precision import set_precision
from adjudge.judges.folder import load_model
from adjudge.judges.predict import log_probabilities
from adjudge.judges.row_model import RowJudge
from harness import machine, side_by_side, table
from shelf import hugging_face, merged_encoder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "fever" / "dev_gold.jsonl.gz"
FP32 = "adjudge fp32"


class OnnxBackbone(nn.Module):
    """An exported encoder in place of a backbone that takes the mean of its tokens."""

    def __init__(self, path: Path, hidden_size: int) -> None:
        super().__init__()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.hidden_size = hidden_size

    def forward(self, batch: Batch) -> Encoded:
        inside = torch.arange(batch.input_ids.shape[1]) < batch.lengths[:, None]
        inputs = {
            "input_ids": batch.input_ids.numpy(),
            "attention_mask": inside.long().numpy(),
            "token_type_ids": batch.second_segment.long().numpy(),
        }
        states = torch.from_numpy(self.session.run(None, inputs)[0]) * inside[..., None]
        return Encoded(states, states.sum(dim=1) / batch.lengths[:, None])


class _States(nn.Module):
    """The encoder with one output, to be exported."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        states: Tensor = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        return states


def twin(judge: RowJudge) -> RowJudge:
    return replace(judge, module=copy.deepcopy(judge.module))


def with_pytorch(judge: RowJudge) -> RowJudge:
    other = twin(judge)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        backbone = other.module.backbone
        for layer in backbone.encoder.modules():
            if isinstance(layer, nn.Linear):
                layer.__class__ = nn.Linear  # which goes by the exact type
        backbone.encoder = torch.ao.quantization.quantize_dynamic(backbone.encoder, {nn.Linear}, torch.qint8)
    return other


def with_onnx(judge: RowJudge, folder: Path) -> dict[str, RowJudge]:
    """onnxruntime in fp32 and in int8; nothing where it is not installed."""
    try:
        import onnxruntime  # noqa: F401
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        print(f"onnxruntime takes no part: {error}.", file=sys.stderr)
        return {}
    ids = torch.ones(2, 8, dtype=torch.long)
    rows, tokens = torch.export.Dim("rows", min=1), torch.export.Dim("tokens", min=2, max=512)
    dims = {0: rows, 1: tokens}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _States(hugging_face(merged_encoder(judge))).eval(),
            (ids, torch.ones_like(ids), torch.zeros_like(ids)),
            folder / "fp32.onnx",
            dynamo=True,
            dynamic_shapes={"input_ids": dims, "attention_mask": dims, "token_type_ids": dims},
            input_names=["input_ids", "attention_mask", "token_type_ids"],
            verbose=False,
        )
    quantize_dynamic(
        folder / "fp32.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8, per_channel=True
    )
    judges = {}
    for precision in ("fp32", "int8"):
        other = twin(judge)
        hidden_size = other.module.backbone.hidden_size
        other.module.backbone = OnnxBackbone(folder / f"{precision}.onnx", hidden_size)
        judges[f"onnxruntime {precision}"] = other
    return judges


def contestants(judge: RowJudge, folder: Path) -> dict[str, RowJudge]:
    judges = {FP32: judge}
    whole = twin(judge)
    if set_precision(whole.module, "int16") == "int16":
        judges["adjudge int16"] = whole
    judges["adjudge, linear layers by PyTorch int8"] = with_pytorch(judge)
    return judges | with_onnx(judge, folder)


def changes(judges: dict[str, RowJudge], data: Dataset) -> dict[str, dict[str, float]]:
    """How far each moves from fp32: labels changed, largest change of a probability (all claims; 99% of them)."""
    exact = log_probabilities(judges[FP32], data)
    figures = {}
    for name, judge in judges.items():
        log_probs = log_probabilities(judge, data)
        moved = (log_probs.exp() - exact.exp()).abs().amax(dim=1)
        figures[name] = {
            "labels_changed": float((log_probs.argmax(dim=1) != exact.argmax(dim=1)).float().mean()),
            "moved_99": float(moved.quantile(0.99)),
            "moved_most": float(moved.max()),
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="claims with evidence")
    parser.add_argument(
        "--model", default="small", help="a trained row model that takes the mean of its tokens"
    )
    parser.add_argument("--claims", type=int, default=300, help="claims whose labels are compared")
    parser.add_argument("--timed", type=int, default=48, help="of these, claims of a timed round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.data.is_file():
        sys.exit(f"{options.data}: no such file; name claims with evidence by --data.")
    torch.set_num_threads(1)
    judge = load_model(options.model)
    examples = [replace(e, label=None) for e in islice(read_examples(options.data), options.claims)]
    data = tokenize(examples, judge.writer, judge.labels)
    timed = tokenize(examples[: options.timed], judge.writer, judge.labels)
    with tempfile.TemporaryDirectory() as folder:
        judges = contestants(judge, Path(folder))
        moved = changes(judges, data)
        work: dict[str, Any] = {
            name: lambda one=one: log_probabilities(one, timed) for name, one in judges.items()
        }
        measured = side_by_side(work, len(timed), options.rounds, clock=time.process_time)
    print(table("one thread, processor time", measured, "claims", FP32))
    print(f"\n| {len(data)} claims | labels changed | 99% of the claims move by at most | all by at most |")
    print("|---|---:|---:|---:|")
    for name, row in moved.items():
        figures = f"{row['labels_changed']:.2%} | {row['moved_99']:.4f} | {row['moved_most']:.4f}"
        print(f"| {name} | {figures} |")
    if options.json:
        speeds = {name: one.rate for name, one in measured.items()}
        record = {"machine": machine(), "claims": len(data), "claims_per_second": speeds, "moved": moved}
        options.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
