"""How MH5's derivations are judged: the properties of `common.check`, with messages that name what is not found."""

import brute
import numpy as np
from common import KINDS, TransitionDecoder, check, sample, tolerance

from mh4 import transitions
from mh4.decoders import mh5

TWO, HYBRID, TWO_ARCS, HYBRID_ARCS = DECODERS = [
    TransitionDecoder(f"mh5-{features}{'-arcs' if arcs else ''}", mh5.decode, 5, hybrid=features == "hybrid", arcs=arcs)
    for arcs in (False, True)
    for features in ("two", "hybrid")
]

EVERY_KIND = (*KINDS, "planted")


def scores_of(decoder, n, rng, kind):
    """Random scores of a kind in common.KINDS; or "planted": the best sequence is, most likely, a random or a similar one.

    With other scores, few best sequences need the steps that set MH5 apart from MH4.
    """
    if kind != "planted":
        return decoder.sample(n, rng, kind)
    rows = brute.random_sequence(n, 5, rng, links=1)
    return {name: tensor * np.float32(2) + sample(tensor.shape, rng, "normal") for name, tensor in decoder.plant(n, rows).items()}


def rows_of(derivation):
    """The transitions of a derivation in the form of the reference, where a shift has no s1."""
    return tuple((code, s1 if code else None, s0, b0) for code, s1, s0, b0 in derivation.transitions.tolist())


def executed(rows, n):
    """The heads, by a stack and nothing else: only the codes of the rows are used, the positions in them are checked."""
    stack, b0, heads = [], 0, [-1] * (n + 1)
    for step, (code, s1, s0, stated_b0) in enumerate(rows):
        actual = (*([-1, -1] + stack)[-2:], b0)
        assert (s1, s0, stated_b0) == actual, f"row {step} of {rows} says (s1, s0, b0) = {(s1, s0, stated_b0)}, not {actual}"
        if code == 0:
            assert b0 <= n, f"row {step} of {rows} shifts the end of the sentence"
            stack.append(b0)
            b0 += 1
            continue
        nodes = (stack + [b0])[::-1][:5]
        _, *positions = brute.REDUCES[code]
        assert max(map(brute.POSITIONS.index, positions)) < len(nodes), f"row {step} of {rows} needs {positions}: {nodes}"
        head, dependent = brute.arc_of(code, *nodes)
        assert head <= n and dependent > 0, f"row {step} of {rows} makes the arc {head} -> {dependent}"
        heads[dependent] = head
        stack.remove(dependent)
    assert stack == [0] and b0 == n + 1, f"{rows} ends with the stack {stack} and b0 = {b0}"
    return heads


def judge(decoder, derivation, n, scores, cost=None, best=None, said=""):
    """Well-formed, derived by MH5, scored as it says, made by its transitions, and as good as the best."""
    rows = derivation.transitions.tolist()
    assert executed(rows, n) == derivation.heads.tolist(), f"{decoder.name} n={n} {said}: {rows} make other heads"
    np.testing.assert_array_equal(transitions.run(derivation.transitions, n), derivation.heads)
    if n <= 5:
        known = rows_of(derivation) in brute.derivations(n, 5).known
        assert known, f"{decoder.name} n={n} {said}: MH5 does not derive {brute.spell(rows_of(derivation))}"
    if best is not None:
        far = abs(derivation.score - best) > tolerance(n, scores, cost)
        assert not far, (
            f"{decoder.name} n={n} {said}: scores {derivation.score}, the best is {best}; {missed(n, scores, cost, best)}"
        )
    check(decoder, derivation, n, scores, cost, best)


def missed(n, scores, cost, best):
    """The sequence of the best score, if the sentence is short."""
    if n > 5:
        return ""
    candidates = brute.derivations(n, 5).scores(**scores, cost=cost)
    return "that is " + brute.spell(brute.derivations(n, 5).sequences[int(np.abs(candidates - best).argmin())])
