"""The functions of all decoders, by name, each with random scores and options to call it with."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from common import DECODERS, GLOBAL, LOCAL, MH5, MST, hamming_cost
from marginals_judge import MODELS, SEQUENCES, marginals, sample
from oneec_judge import ONEEC

ROOTS = [{}, {"single_root": True}]


class Call(NamedTuple):
    """A function that is called as function(of.sample(n, rng), **one) for each `one` of options(n, rng)."""

    of: object
    function: Callable
    options: Callable


def of_trees(of, n, rng):
    return [*ROOTS, {"heads": np.array(of.planted(n, rng)[1], dtype=np.int32)}]


def of_decoders(of, n, rng):
    trees = of_trees(of, n, rng)
    return [*trees, {"cost": hamming_cost(trees[-1]["heads"])}]


def of_beams(n, rng):
    return [{"beam": int(rng.integers(1, 20)), **more} for more in ROOTS]


CALLS = {decoder.name: Call(decoder, decoder.decode, partial(of_decoders, decoder)) for decoder in [*DECODERS, *MH5, ONEEC]}
CALLS |= {"beam, " + model.name: Call(model, model.decode, of_beams) for model in LOCAL + GLOBAL}
CALLS |= {"marginals, " + model.name: Call(model, partial(marginals, model), partial(of_trees, model)) for model in MODELS}
CALLS |= {
    "samples, " + model.name: Call(model, partial(sample, model, samples=3, rng=1), partial(of_trees, model))
    for model in [*SEQUENCES, MST]
}


def comparable(found):
    """Return a result in a form that is equal only for the same bits. Digests of arrays save memory."""
    if isinstance(found, np.ndarray):
        return found.shape, found.dtype, hashlib.sha256(np.ascontiguousarray(found)).hexdigest()
    if isinstance(found, dict):
        return {name: comparable(value) for name, value in found.items()}
    return comparable(vars(found)) if hasattr(found, "parts") else found
