"""Feed every reader of data many damaged and made-up inputs: only errors in words, bounded time and memory.

python tests/fuzz/run.py --inputs 100000                 # make fuzz; by hypothesis
python tests/fuzz/run.py --inputs 5000 --targets HTML,PDF
python tests/fuzz/run.py --engine atheris --targets PDF  # guided by coverage, where atheris is installed
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from targets import TARGETS, Target

from adjudge.errors import AdjudgeError

SECONDS, SECONDS_A_BYTE = 5.0, 2e-4
"""Processor time that an input may take: the second part says that time grows with the input and no faster."""
MEMORY = 2 << 30
"""Bytes that a target may take beyond what the process has when it begins."""
DAMAGED = 9
"""Damaged forms of an input that hypothesis draws, which follow it: a draw takes longer than most readers."""


class Unworthy(Exception):
    """An input that was not answered as it should be."""


def feed(target: Target, folder: Path, content: bytes) -> str:
    """Let a target read bytes: ``read`` or ``refused``; raises where it does anything else."""
    path = folder / target.file
    path.write_bytes(content)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(path)
        answer = "read"
    except AdjudgeError:
        answer = "refused"
    seconds = time.process_time() - began
    if seconds > SECONDS + SECONDS_A_BYTE * len(content):
        raise Unworthy(f"{seconds:.1f} s for {len(content):,} bytes")
    return answer


def inputs(target: Target) -> st.SearchStrategy[bytes]:
    """Seeds with some bytes replaced, removed, repeated or cut off; JSON of any shape; any text; any bytes."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    values = st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner)
    )
    damaged = st.builds(mutate, st.sampled_from(target.seeds), st.integers(0, 2**63))
    return st.one_of(
        damaged,
        damaged,
        damaged,
        values.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")),
        st.text().map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=400),
    )


def mutate(content: bytes, number: int) -> bytes:
    """A seed that was damaged in a few places; a number says how, since drawing every byte would take the most time."""
    rng, damaged = random.Random(number), bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randint(0, max(0, len(damaged) - 1)), rng.randint(0, 40)
        kind = rng.choice(("replace", "remove", "repeat", "insert", "cut", "bit"))
        if kind == "replace":
            damaged[at : at + length] = rng.randbytes(length)
        elif kind == "remove":
            del damaged[at : at + length]
        elif kind == "repeat":
            damaged[at:at] = damaged[at : at + length] * rng.randint(1, 50)
        elif kind == "insert":
            damaged[at:at] = rng.randbytes(length // 2)
        elif kind == "cut":
            del damaged[at:]
        elif damaged:
            damaged[at] ^= 1 << rng.randint(0, 7)
    return bytes(damaged)


def run_hypothesis(target: Target, folder: Path, count: int, number: int) -> dict[str, int]:
    """So many inputs; raises at the first that is unworthy, made as small as it can be."""
    answers = {"inputs": 0, "read": 0, "refused": 0}

    @seed(number)
    @settings(
        max_examples=-(-count // (1 + DAMAGED)),
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(target), st.integers(0, 2**63))
    def check(content: bytes, first: int) -> None:
        damaged = (mutate(content, first + further) for further in range(DAMAGED))
        for fed in (content, *damaged):
            answers["inputs"] += 1
            answers[feed(target, folder, fed)] += 1

    for content in target.seeds:
        feed(target, folder, content)
    check()
    return answers


def run_atheris(target: Target, folder: Path, count: int) -> None:
    """As many inputs as asked for, guided by the coverage of adjudge; ends the process."""
    import atheris

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, content in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(content)
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-runs={count}", str(corpus)], lambda content: feed(target, folder, content))
    atheris.Fuzz()


def bound_memory() -> None:
    """End in ``MemoryError`` what takes too much."""
    if os.path.exists("/proc/self/statm"):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--engine", choices=("hypothesis", "atheris"), default="hypothesis")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bound_memory()
    failed = False
    for name in options.targets.split(","):
        shared = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
            began = time.monotonic()
            try:
                if options.engine == "atheris":
                    run_atheris(TARGETS[name], Path(folder), options.inputs)
                answers = run_hypothesis(TARGETS[name], Path(folder), options.inputs, options.seed)
                line = {"target": name, **answers, "seconds": round(time.monotonic() - began, 1)}
            except Exception as error:
                failed = True
                line = {
                    "target": name,
                    "problem": f"{type(error).__name__}: {error}",
                    "notes": getattr(error, "__notes__", []),
                }
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
