"""Where the public data sets live. Facts only: addresses, checksums, licences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: mirrors in the order they are tried, and its SHA-256 where its publisher's bytes are known.

    ``unpack`` names the folder that an archive is unpacked into.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None
    unpack: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A data set: its files, and what a user must know before using them."""

    title: str
    files: tuple[SourceFile, ...]
    licence: str
    homepage: str


_FEVER_MIRRORS = ("https://fever.ai/download/fever", "https://s3-eu-west-1.amazonaws.com/fever.public")
_KGAT = "https://thunlp.oss-cn-qingdao.aliyuncs.com/KernelGAT/FEVER"
_SYMMETRIC = "TalSchuster/FeverSymmetric"
_SYMMETRIC_V1 = "6d5ec43a37748a9f4e4006fb848ae0639fe33515"
_SYMMETRIC_V2 = "7a0d73cb6744815c4c6ac54ebbd1951009a154c4"
_MINILM = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"


def _fever(name: str, sha256: str) -> SourceFile:
    return SourceFile(name, tuple(f"{mirror}/{name}" for mirror in _FEVER_MIRRORS), sha256)


def _github(repository: str, commit: str, path: str) -> SourceFile:
    """A file at a fixed commit, so that it cannot change under its name."""
    return SourceFile(
        path.rpartition("/")[2],
        (
            f"https://raw.githubusercontent.com/{repository}/{commit}/{path}",
            f"https://github.com/{repository}/raw/{commit}/{path}",
        ),
    )


def _minilm(name: str, sha256: str | None = None) -> SourceFile:
    return SourceFile(name, (f"{_MINILM}/{name}",), sha256)


SOURCES: Mapping[str, Source] = {
    "fever": Source(
        "FEVER claims: training, shared-task dev and blind test",
        (
            _fever("train.jsonl", "eba7e8f87076753f8494718b9a857827af7bf73e76c9e4b75420207d26e588b6"),
            _fever(
                "shared_task_dev.jsonl", "e89865bfe1b4dd054e03dd57d7241a6fde24862905f31117cf0cd719f7c78df7"
            ),
            _fever(
                "shared_task_test.jsonl", "76dd0872d8fa1f49efe1194fe8a88b7dd4c715c77d87a142b615d4be583e1e51"
            ),
        ),
        "CC BY-SA 3.0",
        "https://fever.ai/dataset/fever.html",
    ),
    "fever-paper": Source(
        "FEVER claims: the dev set as the first paper split it",
        (
            _fever("paper_dev.jsonl", "41158707810008747946bf23471e82df53e77a513524b9e3ec1c2e674ef5ef8c"),
            _fever("paper_test.jsonl", "fb7b0280a0adc2302bbb29bfb7af37274fa585de3171bcf908f180642d11d88e"),
        ),
        "CC BY-SA 3.0",
        "https://fever.ai/dataset/fever.html",
    ),
    "fever-wiki": Source(
        "FEVER's Wikipedia of June 2017: 5.4 million pages, 1.7 GB; read without unpacking",
        (_fever("wiki-pages.zip", "4b06d95da6adf7fe02d2796176c670dacccb21348da89cba4c50676ab99665f2"),),
        "CC BY-SA 3.0",
        "https://fever.ai/dataset/fever.html",
    ),
    "kgat": Source(
        "KGAT's training, dev and test claims with retrieved evidence, and its BERT checkpoints",
        (SourceFile("KernelGAT.zip", (f"{_KGAT}/KernelGAT.zip",)),),
        "MIT (code and checkpoints); CC BY-SA 3.0 (FEVER text)",
        "https://github.com/thunlp/KernelGAT",
    ),
    "scifact": Source(
        "SciFact: scientific claims and 5,183 abstracts",
        (
            SourceFile(
                "scifact.tar.gz",
                (
                    "https://scifact.s3-us-west-2.amazonaws.com/release/latest/data.tar.gz",
                    "https://s3-us-west-2.amazonaws.com/scifact/release/latest/data.tar.gz",
                ),
                "11c621288d41ac144d29b13b0f8503b3820b7d6e8b1f6ff24dff335c196d76be",
                unpack="scifact",
            ),
        ),
        "CC BY 4.0 (claims); ODC-By 1.0 (abstracts)",
        "https://github.com/allenai/scifact",
    ),
    "climate-fever": Source(
        "Climate-FEVER: 1,535 claims on climate change with five judged sentences each",
        (
            _github(
                "tdiggelm/climate-fever-dataset",
                "336f0a46c98920a6f40926385ce71ba877a7b863",
                "dataset/climate-fever.jsonl",
            ),
        ),
        "not stated by its authors; sentences from Wikipedia (CC BY-SA 3.0)",
        "https://github.com/tdiggelm/climate-fever-dataset",
    ),
    "vitaminc": Source(
        "VitaminC: 450,000 contrastive claim–sentence pairs",
        (
            SourceFile(
                "vitaminc.zip",
                ("https://github.com/TalSchuster/talschuster.github.io/raw/master/static/vitaminc.zip",),
                "49d82dc1690cbee420d18e2c26f687a7937710bb211845d2571430dfd4dc0337",
                unpack="vitaminc",
            ),
        ),
        "CC BY-SA 3.0",
        "https://github.com/TalSchuster/VitaminC",
    ),
    "fever-symmetric": Source(
        "FEVER-symmetric: pairs on which a claim alone tells nothing",
        (
            _github(_SYMMETRIC, _SYMMETRIC_V1, "symmetric_v0.1/fever_symmetric_generated.jsonl"),
            _github(_SYMMETRIC, _SYMMETRIC_V2, "symmetric_v0.2/fever_symmetric_dev.jsonl"),
            _github(_SYMMETRIC, _SYMMETRIC_V2, "symmetric_v0.2/fever_symmetric_test.jsonl"),
        ),
        "CC BY-SA 3.0",
        "https://github.com/TalSchuster/FeverSymmetric",
    ),
    "all-minilm": Source(
        "all-MiniLM-L6-v2, the embedded backbone, from the hub",
        (
            _minilm("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            _minilm("config.json"),
            _minilm("tokenizer.json"),
            _minilm("tokenizer_config.json"),
            _minilm("special_tokens_map.json"),
            _minilm("vocab.txt"),
        ),
        "Apache-2.0",
        "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    ),
}
"""Name → data set. Checksums of FEVER and SciFact are those the Hugging Face loaders recorded."""
