"""No decoder keeps memory: 1,250 sentences take no more than the first 250.

The sentences have up to 30 words, so that a leak of 250 bytes in each call shows.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
SENTENCES = 1_250


def calls():
    """By decoder: a function that decodes the sentence with this number."""
    from common import DECODERS, rng_for, sample_tensors

    from mh4.decoders import batch, beam, oneec

    rng = rng_for("leaks")
    lengths = [int(n) for n in rng.integers(1, 31, size=40)]
    for decoder in DECODERS:
        most = {"mhk-5": 12, "mhk-6": 9}.get(decoder.name, 30)
        scores = [decoder.sample(min(n, most), rng) for n in lengths]
        trees = [decoder.decode(one, single_root=True).heads for one in scores]
        yield decoder.name, lambda k, d=decoder, s=scores: d.decode(s[k % 40], single_root=k % 2 == 0)
        yield decoder.name + ", one tree", lambda k, d=decoder, s=scores, t=trees: d.decode(s[k % 40], heads=t[k % 40])
        yield decoder.name + ", refused", lambda k, d=decoder, s=scores: refuse(d, s[k % 40])
    squares = [rng.normal(size=(4, n + 2, n + 2)).astype(np.float32) for n in lengths]
    yield "1ec", lambda k: oneec.decode(*(x[: -1 if i < 2 else None, :-1] for i, x in enumerate(squares[k % 40])))
    yield "1ec, marginals", lambda k: oneec.marginals(*(x[: -1 if i < 2 else None, :-1] for i, x in enumerate(squares[k % 40])))
    lengths_of = np.array([5, 12, 9])
    batched = {"shift": rng.normal(size=(3, 14, 14)), "reduce_s0b0": rng.normal(size=(3, 6, 14, 14))}
    chains = np.tile(np.arange(-1, 12), (3, 1))
    yield "batch", lambda k: batch.decode("mh4", batched, lengths_of, threads=1 + k % 2)
    yield (
        "batch, marginals",
        lambda k: batch.marginals("mh4", batched, lengths_of, heads=chains if k % 3 else None, threads=1 + k % 2),
    )
    yield "batch, samples", lambda k: batch.sample("mh4", batched, lengths_of, 2, rng=k, threads=1 + k % 2)
    searched = [sample_tensors({"shift": (), "reduce_s0b0": (6,)}, n, rng) for n in lengths]
    yield "beam", lambda k: beam.decode(**searched[k % 40], beam=4)


def refuse(decoder, scores):
    try:
        decoder.decode({name: np.full_like(tensor, -np.inf) for name, tensor in scores.items()})
    except ValueError:
        return
    raise AssertionError


def resident():
    """The memory in use, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure():
    """Prints, for each decoder, by how many bytes memory has grown."""
    import tracemalloc

    for name, decode in calls():
        for k in range(SENTENCES // 5):
            decode(k)
        before = resident()
        for k in range(SENTENCES // 5, SENTENCES):
            decode(k)
        grown = resident() - before
        tracemalloc.start()
        decode(0)
        gc.collect()
        traced = tracemalloc.get_traced_memory()[0]
        for k in range(400):
            decode(k)
        gc.collect()
        traced = tracemalloc.get_traced_memory()[0] - traced
        tracemalloc.stop()
        print("%s\t%d\t%d" % (name, grown, traced), flush=True)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow():
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    done = subprocess.run([sys.executable, __file__], stdout=-1, stderr=-1, env=dict(os.environ, PYTHONPATH=path))
    assert done.returncode == 0, done.stderr.decode()
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert len(rows) >= 30
    for name, grown, traced in rows:
        assert int(grown) < 250_000, (name, grown)  # of 1,000 sentences
        assert int(traced) < 10_000, (name, traced)  # of 400


if __name__ == "__main__":
    measure()
