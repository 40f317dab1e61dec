"""MH5 and memory: MH4 decodes what is too long for it. test_mh5.py and test_mh5_long.py compare it with references."""

import re
import subprocess
import sys

import pytest
from common import parts_score, rng_for, sample
from mh5_judge import HYBRID_ARCS

from mh4.decoders import mh4, mh5


def test_too_long_for_memory():
    """MH4 instead, with a warning; not for a given tree."""
    n = 20
    tensors = HYBRID_ARCS.sample(n, rng_for("long"))
    cost = sample((n + 1, n + 1), rng_for("cost"), "normal")
    with pytest.warns(RuntimeWarning, match=r"MH5 takes .* 20 words, more than .* decoded by MH4"):
        found = mh5.decode(**tensors, cost=cost, single_root=True, max_bytes=10_000)
    of_mh4 = {name: tensor[:6] if name.startswith("reduce") else tensor for name, tensor in tensors.items()}
    expected = mh4.decode(**of_mh4, cost=cost, single_root=True)
    assert found.score == expected.score and found.heads.tolist() == expected.heads.tolist()
    assert found.score == pytest.approx(parts_score(found, tensors, cost))
    again = mh5.decode(**tensors, cost=cost, single_root=True)
    assert again.score >= found.score
    assert mh5.decode(**tensors, heads=again.heads, max_bytes=10_000).heads.tolist() == again.heads.tolist()


def test_no_memory():
    """An error, after which the decoder can be used again."""
    code = """
import resource, numpy as np
from mh4.decoders import mh5
def decode(n):
    return mh5.decode(np.zeros((n + 2, n + 2), np.float32), np.zeros((12, n + 2, n + 2), np.float32), max_bytes=1 << 50)
decode(10)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
try:
    decode(250)
except MemoryError as error:
    print(error)
print(decode(10).score)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("needs a limit on memory")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert re.fullmatch(
        r"a sentence of 250 words needs [0-9]+ MB, which is more memory than there is( \([0-9]+ MB\))?\n0.0\n", result.stdout
    ), result.stdout + result.stderr
