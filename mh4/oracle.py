"""The static oracle: the canonical transition sequence of a tree, which greedy parsers learn.

A tree has many sequences. The canonical one attaches a word as soon as it can: when the word has all its dependents, is
on top of the stack or second, and its head is first in the buffer or among the three nodes on top of the stack. Where both
s0 and s1 can be attached, s1 is first. The paper does not say which sequences it learns from, but its Table 1 does: a parser
that sees only {s0, b0} fails, as it must where s1 is removed again and again while s0 and b0 stay the same. With s0 first
a projective tree would have the sequence of the arc-hybrid system, and such a parser would do as well as greedy MH3.

It never hurts to do so. A word without further dependents is needed only for its own arc, and without it all other
nodes of the stack are at least as near to the top as before. A reduce transition of MH4 joins s0 or s1 to any of s0, s1,
s2 and b0, so an arc that can be made can still be made with its ends nearer to the top. So what is left of any sequence
for the tree, without the transition that removes the word, is a sequence from there on: the oracle finds one for every
tree that the transition system makes. These are more than MH4 derives. The same holds for MH3, where only s0 is removed
and its head is s1 or b0; these are the projective trees.
"""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from mh4.decoders import arguments
from mh4.transitions import LA, LA2, LA_PRIME, MH4, RA, RA2, RA_PRIME, SH, Transition
from mh4.trees import Heads


def canonical(heads: Heads, codes: Sequence[Transition] = MH4) -> Optional[np.ndarray]:
    """The canonical sequence of a tree, or None if transitions of these codes (MH3 or MH4) do not make it.

    heads: int array (n+1,), a tree. Returns an int array (2n+1, 5) of rows (code, s2, s1, s0, b0), the positions as they
    are before the transition, -1 where a position is empty. Raises ValueError if `heads` is not a tree.
    """
    heads = arguments.tree(heads)
    n = len(heads) - 1
    missing = np.bincount(heads[1:], minlength=n + 1).tolist()  # dependents still to be attached
    heads = heads.tolist()
    stack, rows = [-1, -1, -1], []  # three empty positions are below the bottom
    b0, allowed = 0, frozenset(codes)
    for _ in range(2 * n + 1):
        s2, s1, s0 = stack[-3:]
        for dependent, reduces in ((s1, {b0: LA2, s0: LA_PRIME, s2: RA_PRIME}), (s0, {b0: LA, s1: RA, s2: RA2})):
            code = reduces.get(heads[dependent])
            if dependent > 0 and not missing[dependent] and code in allowed:
                break
        else:
            code = SH
        rows.append((int(code), s2, s1, s0, b0))
        if code == SH:
            if b0 > n:
                return None
            stack.append(b0)
            b0 += 1
        else:
            dependent = stack.pop() if code in (LA, RA, RA2) else stack.pop(-2)
            missing[heads[dependent]] -= 1
    return np.array(rows, dtype=np.intp)
