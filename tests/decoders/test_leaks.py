"""No decoder leaks memory: 1,250 sentences take no more than the first 250.

A leak of 250 bytes per call is detected.
"""

import gc
import os
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

SENTENCES = 1_250


def calls():
    """Yield names and functions of the number of a call, which alternate between a longer and a shorter sentence."""
    from common import DECODERS, rng_for
    from exhaust import all_calls

    for (name, long), (_, short) in zip(all_calls(24, (2,)), all_calls(10, (2,)), strict=True):
        if not re.search("single_root|cost|batch.*(mh3|mh5|mst|1ec)", name):
            yield name, lambda k, long=long, short=short: (long, short)[k % 2]()
    for decoder in DECODERS:
        scores = {name: np.full_like(tensor, -np.inf) for name, tensor in decoder.sample(8, rng_for("leaks")).items()}
        yield decoder.name + ", refused", lambda k, decoder=decoder, scores=scores: refuse(decoder, scores)


def refuse(decoder, scores):
    with pytest.raises(ValueError):
        decoder.decode(scores)


def resident():
    """Return the memory in use, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure():
    """Print by how many bytes each decoder has grown: the process in 1,000 sentences, Python's objects in 150."""
    for name, decode in calls():
        for k in range(SENTENCES // 5):
            decode(k)
        before = resident()
        for k in range(SENTENCES // 5, SENTENCES):
            decode(k)
        grown = resident() - before
        tracemalloc.start()
        decode(0)
        traced = [in_use_after(decode) for _ in range(4)]
        tracemalloc.stop()
        print("%s\t%d\t%d" % (name, grown, min(np.diff(traced))), flush=True)


def in_use_after(decode):
    """Return the memory of Python's objects after 150 sentences, in bytes."""
    for k in range(150):
        decode(k)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow():
    done = subprocess.run([sys.executable, __file__], stdout=-1, stderr=-1)
    assert done.returncode == 0, done.stderr.decode()
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert len(rows) >= 30
    for name, grown, traced in rows:
        assert int(grown) < 250_000, (name, grown)  # of 1,000 sentences
        assert int(traced) < 3_750, (name, traced)  # of the 150 that added least: a leak grows every time, caches do not


if __name__ == "__main__":
    measure()
