"""What is on the shelf, behind our heads: encoders of other runtimes on padded rows, with a judge's own weights."""

from __future__ import annotations

import copy
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from adjudge.encoders.backbone import Encoded
from adjudge.encoders.batch import Batch
from adjudge.encoders.tokenizing import FastTokenizer
from adjudge.judges.row_model import RowJudge

Run = Callable[[dict[str, Tensor]], Tensor]
"""Padded inputs → (R, L, d) token states."""


class PaddedBackbone(nn.Module):
    """An encoder of another runtime in place of a backbone that takes the mean of its tokens."""

    def __init__(self, run: Run, hidden_size: int, has_segments: bool) -> None:
        super().__init__()
        self.run, self.hidden_size, self.has_segments = run, hidden_size, has_segments

    def forward(self, batch: Batch) -> Encoded:
        inside = torch.arange(batch.input_ids.shape[1]) < batch.lengths[:, None]
        inputs = {"input_ids": batch.input_ids, "attention_mask": inside.long()}
        if self.has_segments:
            inputs["token_type_ids"] = batch.second_segment.long()
        states = self.run(inputs) * inside[..., None]
        return Encoded(states, states.sum(dim=1) / batch.lengths[:, None])


def on_shelf(judge: RowJudge, run: Run) -> RowJudge:
    """A judge whose encoder is run by another runtime."""
    module = copy.deepcopy(judge.module)
    module.backbone = PaddedBackbone(run, module.backbone.hidden_size, judge.module.backbone.has_segments)
    return replace(judge, module=module)


def hugging_face(own: Any) -> nn.Module:
    """Hugging Face's own encoder with the weights of ours."""
    from transformers import AutoConfig, AutoModel

    encoder: nn.Module = AutoModel.from_config(AutoConfig.for_model(**own.config.values))
    encoder.load_state_dict(own.state_dict(), strict=False)
    return encoder.eval()


def merged_encoder(judge: RowJudge) -> Any:
    """A copy of a judge's encoder, adapters merged."""
    backbone = copy.deepcopy(judge.module.backbone)
    backbone.merge_adapters()
    return backbone.encoder


def hugging_face_tokenizer(tokenizer: FastTokenizer) -> Any:
    """Hugging Face's own, from the same files."""
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        return AutoTokenizer.from_pretrained(folder)


def without_backbone(module: nn.Module) -> Any:
    """A module that shares all parts but the backbone, so that another encoder can stand before them."""
    head = copy.copy(module)
    head._modules = {name: part for name, part in module._modules.items() if name != "backbone"}
    return head


class States(nn.Module):
    """An encoder with one output, to be exported."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        segments = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        states: Tensor = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, **segments
        ).last_hidden_state
        return states


def run_hugging_face(encoder: nn.Module) -> Run:
    states = States(encoder)
    return lambda inputs: states(**inputs)


def export(encoder: nn.Module, has_segments: bool, path: Path) -> None:
    """Write the encoder as ONNX, rows and tokens of any number."""
    ids = torch.ones(2, 8, dtype=torch.long)
    arguments = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if has_segments:
        arguments["token_type_ids"] = torch.zeros_like(ids)
    dims = {0: torch.export.Dim("rows", min=1), 1: torch.export.Dim("tokens", min=2, max=512)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            States(encoder).eval(),
            (),
            path,
            kwargs=arguments,
            dynamo=True,
            dynamic_shapes=dict.fromkeys(arguments, dims)
            | ({} if has_segments else {"token_type_ids": None}),
            input_names=list(arguments),
            verbose=False,
        )


def run_onnx(path: Path, threads: int) -> Run:
    """onnxruntime on a file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(inputs: dict[str, Tensor]) -> Tensor:
        arrays = {name: value.numpy() for name, value in inputs.items()}
        return torch.from_numpy(np.asarray(session.run(None, arrays)[0]))

    return run


def run_openvino(path: Path, threads: int) -> Run:
    """OpenVINO on a file, in single precision: its default on some processors is half."""
    import openvino

    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    compiled = openvino.Core().compile_model(str(path), "CPU", settings)

    def run(inputs: dict[str, Tensor]) -> Tensor:
        arrays = {name: value.numpy() for name, value in inputs.items()}
        return torch.from_numpy(np.array(compiled(arrays)[0]))

    return run


def optimise(path: Path, judge: RowJudge, to: Path) -> bool:
    """onnxruntime's transformer optimiser, for the families that it knows; whether it went through."""
    config = judge.module.backbone.encoder.config
    if config.model_type != "bert":
        return False
    try:
        from onnxruntime.transformers import optimizer

        model = optimizer.optimize_model(
            str(path),
            model_type="bert",
            num_heads=config.num_attention_heads,
            hidden_size=config.hidden_size,
        )
        model.save_model_to_file(str(to))
    except Exception as error:  # of another package, which raises what it likes
        print(f"onnxruntime's optimiser takes no part: {error}.", file=sys.stderr)
        return False
    return True


def shelf_judges(judge: RowJudge, folder: Path, threads: int, with_compile: bool) -> dict[str, RowJudge]:
    """The judge on every runtime that is installed."""
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_VNNI")
    has_segments = judge.module.backbone.has_segments
    encoder = hugging_face(merged_encoder(judge))
    judges = {"hugging face": on_shelf(judge, run_hugging_face(encoder))}
    if with_compile:
        compiled = torch.compile(States(copy.deepcopy(encoder)), dynamic=True)
        judges["torch.compile"] = on_shelf(judge, lambda inputs: compiled(**inputs))
    plain = folder / "fp32.onnx"
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        export(encoder, has_segments, plain)
    except ImportError as error:
        print(f"onnxruntime and OpenVINO take no part: {error}.", file=sys.stderr)
        return judges
    judges["onnxruntime fp32"] = on_shelf(judge, run_onnx(plain, threads))
    fused = folder / "fused.onnx"
    if optimise(plain, judge, fused):
        judges["onnxruntime fp32, optimised"] = on_shelf(judge, run_onnx(fused, threads))
    quantize_dynamic(plain, folder / "int8.onnx", weight_type=QuantType.QInt8, per_channel=True)
    judges["onnxruntime int8"] = on_shelf(judge, run_onnx(folder / "int8.onnx", threads))
    try:
        judges["OpenVINO fp32"] = on_shelf(judge, run_openvino(plain, threads))
    except ImportError as error:
        print(f"OpenVINO takes no part: {error}.", file=sys.stderr)
    return judges


def cross_encoder(judge: RowJudge, tokenizer: Any) -> Any:
    """sentence-transformers' CrossEncoder on the same encoder; its head is another, so that its labels do not count."""
    from sentence_transformers import CrossEncoder
    from transformers import AutoConfig, AutoModelForSequenceClassification

    config = AutoConfig.for_model(**judge.module.backbone.encoder.config.values, num_labels=3)
    model = AutoModelForSequenceClassification.from_config(config)
    getattr(model, model.base_model_prefix).load_state_dict(
        hugging_face(merged_encoder(judge)).state_dict(), strict=False
    )

    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return CrossEncoder(folder, device="cpu", max_length=judge.settings.max_length)
