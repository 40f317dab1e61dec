"""The charts are compiled for several kinds of processors; one variant is chosen at import."""

import os
import subprocess
import sys
from pathlib import Path

from mh4.decoders.sentences import VARIANTS

CODE = """
import digest
from mh4.decoders.sentences import VARIANT
digest.LENGTHS = [1, 5, 17, 33]
print(VARIANT, digest.digest(digest.results), digest.digest(digest.tied_results))
"""


def run(code, variant):
    options = {"env": {**os.environ, "MH4_SIMD": variant}, "cwd": Path(__file__).parent}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)


def test_all_variants_return_the_same():
    found = [run(CODE, variant).stdout.split() for variant in VARIANTS]
    assert [chosen for chosen, *_ in found] == list(VARIANTS) and VARIANTS[0] == "baseline"
    assert len({tuple(digests) for _, *digests in found}) == 1


def test_a_variant_that_the_processor_cannot_run_is_refused():
    done = run("import mh4.decoders.mh4", "avx1")
    assert done.returncode and "MH4_SIMD=avx1: this processor can run: %s" % " ".join(VARIANTS) in done.stderr
