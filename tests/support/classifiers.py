"""Hugging Face sequence classifiers with random weights, written to a folder."""

from __future__ import annotations

from pathlib import Path

import torch

from hf_tiny import load_tiny

NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 128,
}
FAMILIES = {
    "bert": ("BertConfig", "BertForSequenceClassification", {}),
    "roberta": ("RobertaConfig", "RobertaForSequenceClassification", {"type_vocab_size": 1}),
    "deberta": (
        "DebertaV2Config",
        "DebertaV2ForSequenceClassification",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16},
    ),
    "modernbert": ("ModernBertConfig", "ModernBertForSequenceClassification", {"reference_compile": False}),
}


def write_classifier(folder: Path, family: str = "bert", id2label: dict[int, str] = NLI) -> Path:
    import transformers

    config_name, model_name, own = FAMILIES[family]
    _, tokenizer = load_tiny()
    config = getattr(transformers, config_name)(
        vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **SMALL, **own
    )
    config.id2label, config.label2id = id2label, {name: index for index, name in id2label.items()}
    torch.manual_seed(3)
    model = getattr(transformers, model_name)(config).eval()
    for parameter in model.parameters():  # the usual small weights make all pairs alike
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
