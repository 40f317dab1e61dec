"""Random calls of every decoder, and random changes to CoNLL-U, for sanitizers to watch: a script for `make sanitize`.

    fuzz.py --calls 20000 [--seed 1] [--words 24] [--first 0]

In most calls, arguments are valid: any scores, including -inf and finite masks, with all options. In the other calls,
arguments are invalid, and only ValueError may be raised. Every result must be a tree with the score of its parts, none
of which is forbidden. There must be a result if a derivation is known. A call must not take too long. A call only
depends on its number and the seed: to repeat a call, begin with --first.
"""

import argparse
import faulthandler
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path[1:1] = [str(Path(__file__).resolve().parent.parent / "decoders")]

import brute  # noqa: E402
import corpus  # noqa: E402
from calls import CALLS  # noqa: E402
from common import MH3, MH4_HYBRID_ARCS, MH5, MHK, MST, bad_arrays, parts_score, tolerance  # noqa: E402
from marginals_judge import marginals, well_formed  # noqa: E402

import mh4  # noqa: E402
from mh4.data import conllu  # noqa: E402
from mh4.decoders import Marginals, batch  # noqa: E402
from mh4.decoders.batch import DECODERS as BATCHED  # noqa: E402
from mh4.decoders.batch import single  # noqa: E402
from mh4.decoders.mh4 import first_found as first_mh4  # noqa: E402
from mh4.decoders.mhk import smallest_k  # noqa: E402
from mh4.errors import InputError  # noqa: E402
from mh4.trees import measures  # noqa: E402

KINDS = ("normal", "ties", "zeros", "large", "huge")
MASKS = (-np.inf, -1e30, -1.5e30, -1e31, -3e37, -1e38, float(np.finfo(np.float32).min))
REPORTED = 10_000  # calls between two lines of progress
FILES = 100  # decoder calls for each changed file
SECONDS = 60  # of processor time that a call may take; a long sentence takes 5


def sample(rng, of, n):
    """Return scores of any kind. "huge" has magnitudes of 1e16 to 1e29, similar or very different ones."""
    kind = KINDS[rng.integers(len(KINDS))]
    if kind != "huge":
        return of.sample(n, rng, kind)
    scores = of.sample(n, rng, "ties" if rng.random() < 0.5 else "normal")
    scale = 10.0 ** rng.integers(16, 30)
    for tensor in scores.values():
        tensor *= np.float32(scale)
        if rng.random() < 0.5:
            tensor *= (10.0 ** -rng.integers(0, 14, tensor.shape)).astype(np.float32)
    return scores


def any_call(rng, words):
    """Make a call of calls.py, with any of its options, and check the result."""
    of, function, choices = list(CALLS.values())[rng.integers(len(CALLS))]
    n = int(rng.integers(0, 9 if of.name in ("mhk-5", "mhk-6") else words))
    scores, options = sample(rng, of, n), {}
    if n:
        for choice in choices(n, rng):
            options |= choice if rng.random() < 0.3 else {}
    known = {name: value for name, value in options.items() if name in ("cost", "single_root")}
    scores, possible = masked(rng, scores, lambda: of.decode(scores, **known))
    possible = possible and "beam" not in options  # the beam may only keep partial derivations that cannot be completed
    if "heads" in options:
        options["heads"], possible = np.array(brute.random_tree(n, rng) if rng.random() < 0.5 else options["heads"]), False
        options["heads"][1:][rng.random(n) < rng.random()] = -1
    if "cost" in options and rng.random() < 0.2:
        forbid(rng, options["cost"])
        possible = False
    if rng.random() < 0.1:
        damage(rng, scores, options)
        possible = False
    try:
        found = function(scores, **options)
    except ValueError:
        assert not possible, "what only one derivation uses is not forbidden, but none is found"
        return
    if isinstance(found, np.ndarray):
        assert all(brute.is_tree(heads.tolist()) for heads in found)
    elif hasattr(found, "log_partition"):
        well_formed(found, n, as_stated(scores), near=1e-4)
        given = np.flatnonzero(np.array(options.get("heads", [])) >= 0)
        np.testing.assert_allclose(found.arcs[options["heads"][given], given] if len(given) else 1, 1, atol=1e-4)
    else:
        check(found, n, scores, options.get("cost"))


def masked(rng, scores, decode):
    """Return scores, in about half of the calls with masks, and whether a derivation is known to be possible."""
    scores = {name: tensor.copy() for name, tensor in scores.items()}
    possible = False
    if rng.random() < 0.15:
        try:
            parts = decode().parts
            possible = True
        except ValueError:  # no words, but a single root is required
            parts = {name: np.zeros((0, tensor.ndim), dtype=int) for name, tensor in scores.items()}
        for name, tensor in scores.items():
            others = np.ones(tensor.shape, dtype=bool)
            others[tuple(parts[name].T)] = False
            put_masks(rng, tensor, others)
    elif rng.random() < 0.5:
        for tensor in scores.values():
            if rng.random() < 0.4:
                forbid(rng, tensor)
    if rng.random() < 0.05:
        scores = {name: tensor.astype(np.float64) for name, tensor in scores.items()}
    return scores, possible


def forbid(rng, tensor):
    """Put masks into random cells of the scores, into whole rows or into whole columns."""
    where, share = np.zeros(tensor.shape, dtype=bool), rng.random()
    pattern = rng.integers(3)
    if pattern == 0:
        where |= rng.random(tensor.shape) < share
    elif pattern == 1:
        where |= rng.random((*tensor.shape[:-1], 1)) < share
    else:
        where |= rng.random(tensor.shape[-1]) < share
    put_masks(rng, tensor, where)


def put_masks(rng, tensor, where):
    """Put the same mask everywhere, or random masks."""
    masks = np.array(MASKS if rng.random() < 0.3 else MASKS[rng.integers(len(MASKS))], dtype=np.float32).reshape(-1)
    tensor[where] = rng.choice(masks, where.sum())


def as_stated(scores):
    """Return the scores with -inf for all values that forbid a cell: -1e30 and below."""
    return {name: np.where(tensor > -1e30, tensor, -np.inf) for name, tensor in scores.items()}


def batch_call(rng, words):
    """Decode a batch of several lengths, with masks, on several threads; check that each result fits its sentence."""
    name = list(BATCHED)[rng.integers(len(BATCHED))]
    decoder, longest = BATCHED[name], int(rng.integers(1, words))
    lengths = rng.integers(1, longest + 1, size=rng.integers(1, 5))
    names = [tensor for tensor, shape in decoder.tensors.items() if not shape.optional or rng.random() < 0.5]
    scores = {
        tensor: rng.normal(size=(len(lengths), *decoder.tensors[tensor].of(longest))).astype(np.float32) for tensor in names
    }
    masked = rng.random() < 0.3
    if masked:
        forbid(rng, scores[names[rng.integers(len(names))]])
    options = {"single_root": bool(rng.random() < 0.5), "threads": int(rng.integers(1, 4))}
    try:
        found = batch.decode(name, scores, lengths, **options)
        sums = decoder.marginals and batch.marginals(name, scores, lengths, **options)
        drawn = decoder.sample and batch.sample(name, scores, lengths, 2, rng=int(rng.integers(1 << 32)), **options)
    except ValueError:
        assert masked, "nothing is forbidden, but there is no derivation"
        return
    del options["threads"]
    for b, n in enumerate(map(int, lengths)):
        alone = {tensor: array for tensor, array in single(name, scores, b, n).items() if array is not None}
        check(found.derivation(b), n, alone)
        if decoder.marginals:
            arcs, parts = sums.arcs[b, : n + 1, : n + 1], single(name, sums.parts, b, n)  # without the padding
            well_formed(Marginals(float(sums.log_partition[b]), arcs, parts), n, as_stated(alone), near=1e-4)
        if decoder.sample:
            trees = [*drawn[b, :, : n + 1], *decoder.sample(**alone, samples=2, rng=int(rng.integers(1 << 32)), **options)]
            assert all(brute.is_tree(tree.tolist()) for tree in trees)


def check(derivation, n, scores, cost=None):
    assert brute.is_tree(derivation.heads.tolist())
    scores = as_stated(scores)
    if cost is not None:
        cost = as_stated({"cost": cost})["cost"]
    expected = parts_score(derivation, scores, cost)
    assert abs(derivation.score - expected) <= tolerance(max(n, 1), scores, cost), (derivation.score, expected)
    assert expected > -np.inf, f"uses of what is forbidden: {derivation}"


def damage(rng, scores, options):
    """Make an argument invalid."""
    arrays = {name: value for name, value in {**scores, **options}.items() if isinstance(value, np.ndarray)}
    name = list(arrays)[rng.integers(len(arrays))]
    array = arrays[name]
    if name == "heads":
        choices = [rng.integers(-(2**31), 2**31, size=len(array)), rng.integers(-2, len(array) + 2, size=len(array))]
    else:
        spoilt = array.copy()
        spoilt.flat[rng.integers(array.size)] = (np.nan, np.inf, 1e30)[rng.integers(3)]
        choices = [spoilt, *bad_arrays(array).values()]
    (scores if name in scores else options)[name] = choices[rng.integers(len(choices))]


def tree_call(rng, words):
    """Call the functions that determine the classes of a tree."""
    n = int(rng.integers(0, words))
    heads = np.array(brute.random_tree(n, rng) if n else (-1,), dtype=np.int32)
    smallest_k(heads)
    measures.core(heads)
    measures.crossings(heads)
    measures.one_endpoint_crossing(heads)
    measures.blocks(heads)
    measures.well_nested(heads)


def first_call(rng, words):
    """Call the decoder that returns no Derivation."""
    n = int(rng.integers(0, words))
    like = MHK[1]
    scores = sample(rng, like, n)
    scores, possible = masked(rng, scores, lambda: like.decode(scores))
    arcs = scores["arcs"].astype(np.float32)
    try:
        heads, _ = first_mh4(arcs)
        assert (arcs[heads[1:], np.arange(1, n + 1)] > -1e30).all(), "uses of what is forbidden"
    except ValueError:
        assert not possible, "what only one derivation uses is not forbidden, but none is found"
        return
    assert brute.is_tree(heads.tolist())


def long_call(rng, words):
    """Decode a sentence that is so long that a thread does not keep its tables."""
    n = int(rng.integers(90, 130))
    for decoder in (MST, MH3, MH4_HYBRID_ARCS, *(MH5[-1:] if rng.random() < 0.2 else ())):  # MH5 takes ten times as long
        scores = decoder.sample(n, rng)
        check(decoder.decode(scores, single_root=True), n, scores)
    scores = MH4_HYBRID_ARCS.sample(n, rng)
    well_formed(marginals(MH4_HYBRID_ARCS, scores), n, scores, near=1e-4)


def changed_file(rng, folder):
    """Read a file of the corpus with random changes: it is rejected, or returned unchanged but for byte order marks."""
    content = bytearray(corpus.GOOD.encode())
    for _ in range(rng.choice((1, 2, 5, 20))):
        corpus.mutate(content, rng)
    path = Path(folder) / "changed.conllu"
    path.write_bytes(content)
    for trees in (False, True):
        try:
            lines = [line for block in conllu.blocks(str(path), trees=trees) for line in block.lines]
        except InputError:
            continue
        assert "".join(lines).replace("\ufeff", "") == content.decode().replace("\ufeff", "")


def call(rng, words):
    kind = rng.random()
    if kind < 0.0005:
        long_call(rng, words)
    elif kind < 0.85:
        any_call(rng, words)
    elif kind < 0.95:
        batch_call(rng, words)
    elif kind < 0.98:
        first_call(rng, words)
    else:
        tree_call(rng, words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    asked = parser.parse_args()
    start = time.monotonic()
    faulthandler.register(signal.SIGVTALRM, chain=True)  # then the signal ends the process
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.first, asked.first + asked.calls):
            if number % REPORTED == 0:
                print(
                    "call %d of seed %d after %.0f s" % (number, asked.seed, time.monotonic() - start),
                    file=sys.stderr,
                    flush=True,
                )
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                call(np.random.default_rng([asked.seed, number]), asked.words)
                if number % FILES == 0:
                    changed_file(random.Random(f"{asked.seed} {number}"), folder)
            except BaseException:
                print("in call %d of seed %d:" % (number, asked.seed), file=sys.stderr)
                raise
    print(
        "%d calls and %d files in %.0f s, no failure (%s)"
        % (asked.calls, -(-asked.calls // FILES), time.monotonic() - start, Path(mh4.__file__).parent)
    )


if __name__ == "__main__":
    main()
