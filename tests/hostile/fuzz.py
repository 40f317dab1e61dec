"""Random calls of every decoder, and random changes to CoNLL-U, for sanitizers to watch: a script for `make sanitize`.

    fuzz.py --calls 20000 [--seed 1] [--words 24]

Arguments are valid in most calls (any scores, -inf among them, with all options), and invalid in the others, where only ValueError
may be raised. Every result must be a tree with the score of its parts.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path[1:1] = [str(Path(__file__).resolve().parent.parent / "decoders")]

import brute  # noqa: E402
import corpus  # noqa: E402
from common import DECODERS, hamming_cost, parts_score, sample_tensors, tolerance  # noqa: E402
from marginals_judge import MODELS, marginals, well_formed  # noqa: E402
from mh5_judge import DECODERS as MH5  # noqa: E402

import mh4  # noqa: E402
from mh4 import conllu  # noqa: E402
from mh4.decoders import beam, core, degree, measures, mh3, mh5, mst, oneec, plain_mh4  # noqa: E402
from mh4.decoders import mh4 as exact_mh4  # noqa: E402
from mh4.errors import InputError  # noqa: E402

ALL = [*DECODERS, *MH5]
KINDS = ("normal", "ties", "zeros", "large")
FILES = 100  # decoder calls for each changed file


def decoder_call(rng, words):
    decoder = ALL[rng.integers(len(ALL))]
    n = int(rng.integers(0, 9 if decoder.name in ("mhk-5", "mhk-6") else words))
    scores = decoder.sample(n, rng, KINDS[rng.integers(len(KINDS))])
    checked(rng, n, scores, lambda **options: decoder.decode(scores, **options))


def one_ec_call(rng, words):
    n = int(rng.integers(0, words))
    square, with_none = (n + 1, n + 1), (n + 2, n + 1)
    shapes = {"arc": square, "crossed_arc": square, "grandparent": with_none, "sibling": with_none}
    scores = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    checked(rng, n, scores, lambda **options: oneec.decode(**scores, **options))


def checked(rng, n, scores, decode):
    """Call with random options."""
    forbid(rng, scores)
    options = {"single_root": bool(rng.random() < 0.5)}
    if rng.random() < 0.3:
        options["heads"] = np.array(brute.random_tree(n, rng) if n else (-1,), dtype=np.int32)
    if rng.random() < 0.5:
        options["cost"] = hamming_cost(brute.random_tree(n, rng) if n else (-1,))
    if rng.random() < 0.1:
        damage(rng, scores, options)
    try:
        derivation = decode(**options)
    except ValueError:
        return
    check(derivation, n, scores, options.get("cost"))


def forbid(rng, scores):
    """-inf in a random part of the scores."""
    for tensor in scores.values():
        if rng.random() < 0.2:
            tensor[rng.random(tensor.shape) < rng.random()] = -np.inf


def marginals_call(rng, words):
    model = MODELS[rng.integers(len(MODELS))]
    n = int(rng.integers(0, words))
    scores = model.sample(n, rng, KINDS[rng.integers(len(KINDS))])
    forbid(rng, scores)
    options = {"single_root": bool(rng.random() < 0.5)}
    if rng.random() < 0.1:
        damage(rng, scores, options)
    try:
        found = marginals(model, scores, **options)
    except ValueError:
        return
    well_formed(found, n, scores, near=1e-4)


def check(derivation, n, scores, cost=None):
    assert brute.is_tree(derivation.heads.tolist())
    expected = parts_score(derivation, scores, cost)
    assert abs(derivation.score - expected) <= tolerance(max(n, 1), scores, cost), (derivation.score, expected)


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
    width = int(rng.integers(1, 20))
    single = bool(rng.random() < 0.5)
    kind = KINDS[rng.integers(len(KINDS))]
    try:
        if rng.random() < 0.5:
            reduces = (2, 6)[rng.integers(2)]
            names = {"shift": (), "reduce_s0b0": (reduces,), "reduce_s1s0": (reduces,), "arcs": ()}
            scores = sample_tensors(names, n, rng, kind)
            check(beam.decode(**scores, beam=width, single_root=single), n, scores)
        else:
            transitions = (3, 7)[rng.integers(2)]
            scores = sample_tensors(dict.fromkeys(("s0b0", "s1s0", "s2s1"), (transitions,)), n, rng, kind)
            check(beam.decode_local(**scores, beam=width, single_root=single), n, scores)
    except ValueError:
        return


def tree_call(rng, words):
    """What says which class a tree is in, and plain MH4."""
    n = int(rng.integers(0, words))
    heads = np.array(brute.random_tree(n, rng) if n else (-1,), dtype=np.int32)
    degree.smallest_k(heads)
    core.core(heads)
    measures.crossings(heads)
    measures.one_endpoint_crossing(heads)
    measures.blocks(heads)
    measures.well_nested(heads)
    if n:
        scores = sample_tensors({"shift": (), "reduce_s0b0": (6,), "reduce_s1s0": (6,)}, n, rng)
        plain_mh4.decode(*scores.values(), np.zeros((n + 1, n + 1), dtype=np.float32))


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
    """A file of the corpus with random changes: refused, or returned as it is."""
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
        assert "".join(lines).encode() == content


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=24)
    asked = parser.parse_args()
    rng, files = np.random.default_rng(asked.seed), random.Random(asked.seed)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for call in range(asked.calls):
            kind = rng.random()
            if kind < 0.0005:
                long_call(rng, asked.words)
            elif kind < 0.55:
                decoder_call(rng, asked.words)
            elif kind < 0.7:
                one_ec_call(rng, asked.words)
            elif kind < 0.85:
                marginals_call(rng, asked.words)
            elif kind < 0.95:
                search_call(rng, asked.words)
            else:
                tree_call(rng, asked.words)
            if call % FILES == 0:
                changed_file(files, folder)
    print(
        "%d calls and %d files in %.0f s, no failure (%s)"
        % (asked.calls, -(-asked.calls // FILES), time.monotonic() - start, Path(mh4.__file__).parent)
    )


if __name__ == "__main__":
    main()
