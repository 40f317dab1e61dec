"""Random calls of every decoder, and random changes to CoNLL-U, for sanitizers to watch: a script for `make sanitize`.

    fuzz.py --calls 20000 [--seed 1] [--words 24] [--first 0]

Arguments are valid in most calls (any scores, -inf and finite masks among them, with all options), and invalid in the others, where
only ValueError may be raised. Every result must be a tree with the score of its parts, none of which is forbidden; there must be one
if a derivation is known; and it must be there soon. A call depends on its number and the seed only: to see one again, begin with
--first.
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
from common import DECODERS, MH5, MHK, MST, hamming_cost, parts_score, sample_tensors, tolerance  # noqa: E402
from marginals_judge import MODELS, ONEEC, marginals, well_formed  # noqa: E402

import mh4  # noqa: E402
from mh4.data import conllu  # noqa: E402
from mh4.decoders import Marginals, batch, beam, mh3, mh5, mst  # noqa: E402
from mh4.decoders import mh4 as exact_mh4  # noqa: E402
from mh4.decoders.batch import DECODERS as BATCHED  # noqa: E402
from mh4.decoders.batch import single  # noqa: E402
from mh4.decoders.mh4 import first_found as first_mh4  # noqa: E402
from mh4.decoders.mhk import smallest_k  # noqa: E402
from mh4.errors import InputError  # noqa: E402
from mh4.trees import measures  # noqa: E402

ALL = [*DECODERS, *MH5, *3 * [ONEEC]]
KINDS = ("normal", "ties", "zeros", "large", "huge")
MASKS = (-np.inf, -1e30, -1.5e30, -1e31, -3e37, -1e38, float(np.finfo(np.float32).min))
REPORTED = 10_000  # calls between two lines that say how far it is
FILES = 100  # decoder calls for each changed file
SECONDS = 60  # of processor time that a call may take; one of a long sentence takes 5


def sample(rng, kind, of):
    """Scores of a kind, of(kind) having all kinds but "huge": magnitudes of 1e16 to 1e29, alike or not."""
    if kind != "huge":
        return of(kind)
    scores = of("ties" if rng.random() < 0.5 else "normal")
    scale = 10.0 ** rng.integers(16, 30)
    for tensor in scores.values():
        tensor *= np.float32(scale)
        if rng.random() < 0.5:
            tensor *= (10.0 ** -rng.integers(0, 14, tensor.shape)).astype(np.float32)
    return scores


def decoder_call(rng, words):
    decoder = ALL[rng.integers(len(ALL))]
    n = int(rng.integers(0, 9 if decoder.name in ("mhk-5", "mhk-6") else words))
    scores = sample(rng, KINDS[rng.integers(len(KINDS))], lambda kind: decoder.sample(n, rng, kind))
    checked(rng, n, scores, decoder.decode)


def checked(rng, n, scores, decode):
    """Call with random options."""
    options = {"single_root": bool(rng.random() < 0.5)}
    if rng.random() < 0.5:
        options["cost"] = hamming_cost(brute.random_tree(n, rng) if n else (-1,))
    scores, possible = masked(rng, scores, lambda: decode(scores, **options))
    if rng.random() < 0.3:
        options["heads"], possible = np.array(brute.random_tree(n, rng) if n else (-1,), dtype=np.int32), False
    if "cost" in options and rng.random() < 0.2:
        forbid(rng, options["cost"])
        possible = False
    if rng.random() < 0.1:
        damage(rng, scores, options)
        possible = False
    try:
        derivation = decode(scores, **options)
    except ValueError:
        assert not possible, "what only one derivation uses is not forbidden, but none is found"
        return
    check(derivation, n, scores, options.get("cost"))


def masked(rng, scores, decode):
    """Scores, many of them forbidden in half of the calls; and whether all but those of one derivation, so that there is one."""
    scores = {name: tensor.copy() for name, tensor in scores.items()}
    possible = False
    if rng.random() < 0.15:
        try:
            parts = decode().parts
            possible = True
        except ValueError:  # a single root of no words
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
    """Masks in a random part of the scores, in whole rows or in whole columns."""
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
    """One mask, or any."""
    masks = np.array(MASKS if rng.random() < 0.3 else MASKS[rng.integers(len(MASKS))], dtype=np.float32).reshape(-1)
    tensor[where] = rng.choice(masks, where.sum())


def as_stated(scores):
    """The scores with -inf for all that forbids: from -1e30 down."""
    return {name: np.where(tensor > -1e30, tensor, -np.inf) for name, tensor in scores.items()}


def marginals_call(rng, words):
    model = MODELS[rng.integers(len(MODELS))]
    n = int(rng.integers(0, words))
    scores = sample(rng, KINDS[rng.integers(len(KINDS))], lambda kind: model.sample(n, rng, kind))
    options = {"single_root": bool(rng.random() < 0.5)}
    scores, possible = masked(rng, scores, lambda: model.decode(scores, **options))
    if rng.random() < 0.1:
        damage(rng, scores, options)
        possible = False
    try:
        found = marginals(model, scores, **options)
    except ValueError:
        assert not possible, "what only one derivation uses is not forbidden, but there are no marginals"
        return
    well_formed(found, n, as_stated(scores), near=1e-4)
    if n and rng.random() < 0.3:
        of_trees(rng, model, n, scores, options, found)


def of_trees(rng, model, n, scores, options, found):
    """The marginals of trees that agree with a random one in some words, and trees drawn at random."""
    heads = np.array(brute.random_tree(n, rng), dtype=np.int32)
    heads[rng.random(n + 1) < rng.random()] = -1
    try:
        some = marginals(model, scores, heads=heads, **options)
    except ValueError:  # there are none
        pass
    else:
        well_formed(some, n, as_stated(scores), near=1e-4)
        given = np.flatnonzero(heads >= 0)
        np.testing.assert_allclose(some.arcs[heads[given], given], 1, atol=1e-4, err_msg="arcs that are given")
        assert some.log_partition <= found.log_partition + 1e-6 * max(1, abs(found.log_partition)), "more than of all trees"
    if model is ONEEC:  # which nothing is drawn from
        return
    name = model.name if model is MST else "mh%d" % model.k
    padded = {tensor: np.pad(numbers[None], [(0, 0)] * (numbers.ndim - 1) + [(0, 3)] * 2) for tensor, numbers in scores.items()}
    for drawn in batch.sample(name, padded, [n], 3, rng=int(rng.integers(1 << 32)), **options)[0, :, : n + 1]:
        assert brute.is_tree(drawn.tolist())
        assert found.arcs[drawn[1:], np.arange(1, n + 1)].min() > 0, "an arc that is not possible was drawn"


def batch_call(rng, words):
    """Sentences of several lengths, some scores forbidden, on some threads: what each gets fits its own scores."""
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
    target = scores if rng.random() < 0.7 else options
    name = list(target)[rng.integers(len(target))]
    array = np.asarray(target[name])
    choices = [
        np.zeros((0, 0), dtype=np.float32),
        array[..., :-1] if array.ndim else array,
        array[None],
        np.ones(array.shape, dtype=np.int64),
    ]
    if array.size and array.ndim and array.dtype.kind == "f":
        spoilt = array.copy()
        spoilt.flat[rng.integers(array.size)] = (np.nan, np.inf, 1e30)[rng.integers(3)]
        choices.append(spoilt)
    if name == "heads":
        spoilt = array.copy()
        spoilt.flat[rng.integers(array.size)] = rng.integers(-(2**31), 2**31)
        choices += [spoilt, rng.integers(-2, len(array) + 2, size=len(array)).astype(np.int32)]
    if name != "single_root":
        target[name] = choices[rng.integers(len(choices))]


def search_call(rng, words):
    n = int(rng.integers(0, words))
    options = {"beam": int(rng.integers(1, 20)), "single_root": bool(rng.random() < 0.5)}
    if rng.random() < 0.5:
        reduces = (2, 6, 12)[rng.integers(3)]
        decode, names = beam.decode, {"shift": (), "reduce_s0b0": (reduces,), "reduce_s1s0": (reduces,), "arcs": ()}
    else:
        transitions = (3, 7)[rng.integers(2)]
        decode, names = beam.decode_local, dict.fromkeys(("s0b0", "s1s0", "s2s1"), (transitions,))
    scores = sample(rng, KINDS[rng.integers(len(KINDS))], lambda kind: sample_tensors(names, n, rng, kind))
    # Where only one derivation is left, a beam may keep others of its parts, which end nowhere.
    scores, _ = masked(rng, scores, lambda: decode(**scores, **options))
    try:
        derivation = decode(**scores, **options)
    except ValueError:
        return
    check(derivation, n, scores)


def tree_call(rng, words):
    """What says which class a tree is in."""
    n = int(rng.integers(0, words))
    heads = np.array(brute.random_tree(n, rng) if n else (-1,), dtype=np.int32)
    smallest_k(heads)
    measures.core(heads)
    measures.crossings(heads)
    measures.one_endpoint_crossing(heads)
    measures.blocks(heads)
    measures.well_nested(heads)


def first_call(rng, words):
    """The decoder that returns no Derivation."""
    n = int(rng.integers(0, words))
    like = MHK[1]
    scores = sample(rng, KINDS[rng.integers(len(KINDS))], lambda kind: like.sample(n, rng, kind))
    scores, possible = masked(rng, scores, lambda: like.decode(scores))
    scores = [tensor.astype(np.float32) for tensor in scores.values()]
    try:
        heads, _ = first_mh4(*scores)
        assert (scores[0][heads[1:], np.arange(1, n + 1)] > -1e30).all(), "uses of what is forbidden"
    except ValueError:
        assert not possible, "what only one derivation uses is not forbidden, but none is found"
        return
    assert brute.is_tree(heads.tolist())


def long_call(rng, words):
    """A sentence beyond what the tables of a thread are kept for."""
    n = int(rng.integers(90, 130))
    arcs = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
    check(mst.decode(arcs, single_root=True), n, {"arcs": arcs})
    scores = sample_tensors({"shift": (), "reduce_s0b0": (2,)}, n, rng)
    check(mh3.decode(**scores), n, scores)
    scores = sample_tensors({"shift": (), "reduce_s0b0": (6,), "reduce_s1s0": (6,), "arcs": ()}, n, rng)
    check(exact_mh4.decode(**scores, single_root=True), n, scores)
    well_formed(exact_mh4.marginals(**scores), n, scores, near=1e-4)
    if rng.random() < 0.2:  # takes ten times as long
        scores = MH5[-1].sample(n, rng)
        check(mh5.decode(**scores), n, scores)


def changed_file(rng, folder):
    """A file of the corpus with random changes: refused, or returned as it is, perhaps without byte order marks."""
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
    elif kind < 0.7:
        decoder_call(rng, words)
    elif kind < 0.8:
        marginals_call(rng, words)
    elif kind < 0.9:
        batch_call(rng, words)
    elif kind < 0.95:
        search_call(rng, words)
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
    faulthandler.register(signal.SIGVTALRM, chain=True)  # which then ends the process
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
