"""Compute a digest of all decoders' results for random arguments: the same for every variant (MH4_SIMD) and -march.

python tests/decoders/digest.py      prints the variant, and the digests for real and for integer scores

Integer scores have ties, whose order decoders guarantee. They are also decoded around given heads.
"""

import hashlib

import numpy as np

from mh4.decoders import beam, mh3, mh4, mh5, mhk, mst, oneec
from mh4.decoders.sentences import VARIANT

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33, 40, 50, 65, 99]  # around the widths of vectors


def arguments(rng, n, decimals):
    """Return random scores of transitions of MH3, MH4 and MH5, arcs, costs and parts of oneec, rounded to have ties."""

    def scores(*shape):
        return np.round(rng.normal(size=shape).astype(np.float32), decimals)

    side = n + 2
    shift = scores(side, side)
    reduces = {count: (shift, scores(count, side, side), scores(count, side, side)) for count in (2, 6, 12)}
    parts = [scores(n + 1, n + 1), scores(n + 1, n + 1), scores(side, n + 1), scores(side, n + 1)]
    return reduces, scores(n + 1, n + 1), scores(n + 1, n + 1), parts


def results(n):
    """Yield what the decoders return for a sentence of n words."""
    reduces, arcs, cost, parts = arguments(np.random.default_rng(n), n, 2 if n % 2 else 7)
    for single_root in (False, True):
        options = [{"single_root": single_root}, {"single_root": single_root, "arcs": arcs, "cost": cost}]
        for more in options:
            yield mh3.decode(*reduces[2][:2], **more)
            yield mh4.decode(*reduces[6][:2], **more)
            best = mh4.decode(*reduces[6], **more)
            yield best
            yield mh4.decode(*reduces[6], heads=best.heads, **more)
            yield mh5.decode(*reduces[12], **more)
        yield beam.decode(*reduces[6], beam=4, arcs=arcs, single_root=single_root)
        yield mst.decode(arcs, single_root=single_root)
        yield mh3.marginals(*reduces[2][:2], single_root=single_root)
        yield mh4.marginals(*reduces[6], arcs=arcs, single_root=single_root)
        yield mst.marginals(arcs, single_root=single_root)
        yield oneec.decode(*parts, single_root=single_root)
        yield oneec.marginals(*parts, single_root=single_root)
        if n < 20:
            yield mhk.decode(arcs, 4)


def tied_results(n):
    """Yield what the decoders return for integer scores without heads, and with all or some heads of the best tree."""
    reduces, arcs, cost, parts = arguments(np.random.default_rng(n), n, 0)
    decoders = [
        (mh3.decode, reduces[2][:2]),
        (mh4.decode, reduces[6][:2]),
        (mh4.decode, reduces[6]),
        (mh5.decode, reduces[12]),
        (mst.decode, [arcs]),
        (oneec.decode, parts),
        *([(mhk.decode, (arcs, 4))] if n < 20 else []),
    ]
    for decode, tensors in decoders:
        for options in ({}, {"cost": cost, "single_root": True}):
            best = decode(*tensors, **options)
            some = np.where(np.arange(n + 1) % 3 == 1, -1, best.heads)
            yield from (best, decode(*tensors, heads=best.heads, **options), decode(*tensors, heads=some, **options))


def digest(results):
    total = hashlib.sha256()
    for n in LENGTHS:
        for result in results(n):
            for name, value in sorted(vars(result).items()):
                parts = sorted(value.items()) if isinstance(value, dict) else [("", value)]
                for part, array in parts:
                    total.update(("%d %s %s " % (n, name, part)).encode())
                    total.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


if __name__ == "__main__":
    print(VARIANT, digest(results), digest(tied_results))
