"""Greedy and beam search under the scores of global and of local models."""

import numpy as np

from mh4.decoders.beam.search import best, best_local
from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Derivation
from mh4.decoders.shared.replay import Tensors


def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    beam: int = 1,
    single_root: bool = False,
) -> Derivation:
    """A high-scoring transition sequence under the scores of a global model, as for mh3.decode, mh4.decode and mh5.decode.

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (r, n+2, n+2) with r = 2, 6 or 12, the reduces of MH3, MH4 or MH5, indexed [t, s0, b0].
    reduce_s1s0: the same indexed [t, s1, s0], added to it, or None.
    arcs: float32 (n+1, n+1) or None, arcs[h, m] is added for every arc h->m.
    beam: the number of sequences kept, at least 1; 1 is greedy search. beam * (2n+1) is limited to 100 million.
    single_root: exactly one dependent of node 0.

    Among equal scores, those found first are kept; -inf or any number from -1e30 down forbids a transition or arc.
    Returns a Derivation as the exact decoders do. Its score is at most theirs, or that of a sequence outside the chart.
    Raises ValueError for wrong shapes, NaN and similar, a beam below 1 or too wide, if all scores within the beam are -inf,
    or if a single root is required of a sentence without words; MemoryError if the beam is too wide
    for the memory of the machine.
    """
    reduces = _transitions("reduce_s0b0", reduce_s0b0, (2, 6, 12))
    return best(Tensors(reduces, shift, reduce_s0b0, reduce_s1s0, arcs, None), reduces, beam, single_root)


def decode_local(
    s0b0: np.ndarray, s1s0: np.ndarray | None = None, s2s1: np.ndarray | None = None, *, beam: int = 1, single_root: bool = False
) -> Derivation:
    """A high-scoring transition sequence under the scores of a local model: every transition is scored on all features.

    s0b0: float32 (t, n+2, n+2) with t = 3 or 7, SH, LA, RA and perhaps the other reduces, indexed [t, s0, b0].
    s1s0, s2s1: the same indexed [t, s1, s0] and [t, s2, s1], added to it, or None. The index of an empty stack position
        is n+1: the end of the sentence is never on the stack.
    The first transition, the shift of the root, is not scored. beam, single_root and errors: see `decode`.

    Returns a Derivation with a part (2n, 3) for each tensor given.
    """
    transitions, n = _transitions("s0b0", s0b0, (3, 7)), arguments.words("s0b0", s0b0[0], 2)
    given = {
        name: None if scores is None else arguments.float32_scores(name, scores, (transitions, n + 2, n + 2))
        for name, scores in {"s0b0": s0b0, "s1s0": s1s0, "s2s1": s2s1}.items()
    }
    score, rows, heads = best_local(n, transitions, **given, beam=beam, single_root=single_root)
    parts = local_parts(rows, n)
    return Derivation(score, heads, {name: parts[name] for name in given if given[name] is not None}, rows[:, [0, 2, 3, 4]])


def local_parts(rows: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """The index rows into s0b0, s1s0 and s2s1 of a sequence over n words: intp (2n, 3) each, by name.

    rows: int array (2n+1, 5) of rows (code, s2, s1, s0, b0), -1 where a position is empty.
    """
    scored = rows[1:]
    scored = np.where(scored < 0, n + 1, scored)
    return {name: scored[:, [0, 3 - k, 4 - k]] for k, name in enumerate(("s0b0", "s1s0", "s2s1"))}


def _transitions(name: str, tensor: np.ndarray, allowed: tuple[int, ...]) -> int:
    """The number of transitions that a tensor scores."""
    shape = np.shape(tensor)
    if len(shape) != 3 or shape[0] not in allowed:
        numbers = " or ".join(map(str, allowed))
        raise ValueError(f"{name}: expected shape ({numbers}, n+2, n+2) for n words, got {shape}")
    return shape[0]
