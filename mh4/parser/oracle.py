"""Static oracles: from a tree to the transition sequence that a parser learns.

A tree has many transition sequences, and the paper does not say which it trains on. The canonical one attaches a word as early as
possible: when the word has all its dependents and is s0 or s1, and its head is b0 or among s0, s1 and s2. Where both s0 and s1 can be
attached, s1 is attached first. Greedy parsers learn it by default.

Attaching early is always safe. A word without further dependents is needed only for its own arc, and once it is removed, all
other nodes of the stack are at least as close to the top as before. A reduce transition of MH4 joins s0 or s1 to any of s0, s1,
s2 and b0, so an arc that could be made can still be made with its ends closer to the top. Hence the rest of any sequence for the
tree, minus the transition that removes the word, is a valid continuation, and the oracle finds a sequence for every tree that
the transition system can produce (more trees than the MH4 chart derives). The same holds for MH3, where only s0 is removed and
its head is s1 or b0; its trees are the projective ones.
"""

from collections.abc import Sequence

import numpy as np

from mh4.decoders import arguments
from mh4.transitions import LA, LA2, LA_PRIME, MH4, RA, RA2, RA_PRIME, SH, Configuration, Transition
from mh4.trees import Heads


def canonical(heads: Heads, codes: Sequence[Transition] = MH4) -> np.ndarray | None:
    """Return the canonical sequence of a tree, or None if the transitions `codes` (MH3 or MH4) cannot produce it.

    heads: int array (n+1,), a tree. Returns an int array (2n+1, 5) of rows (code, s2, s1, s0, b0), the positions before the
    transition, -1 where a position is empty. Raises ValueError if `heads` is not a tree.
    """
    heads = arguments.tree(heads)
    n = len(heads) - 1
    missing = np.bincount(heads[1:], minlength=n + 1).tolist()  # dependents still to be attached
    heads = heads.tolist()
    configuration, rows, allowed = Configuration(n), [], frozenset(codes)
    for _ in range(2 * n + 1):
        s2, s1, s0, b0 = configuration.positions
        for dependent, reduces in ((s1, {b0: LA2, s0: LA_PRIME, s2: RA_PRIME}), (s0, {b0: LA, s1: RA, s2: RA2})):
            code = reduces.get(heads[dependent])
            if dependent > 0 and not missing[dependent] and code in allowed:
                missing[heads[dependent]] -= 1
                break
        else:
            code = SH
        if code == SH and b0 > n:
            return None
        rows.append((int(code), s2, s1, s0, b0))
        configuration.apply(code)
    return np.array(rows, dtype=np.intp)
