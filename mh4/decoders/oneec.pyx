"""Decode 1-Endpoint-Crossing trees with third-order scores, in O(n^4) time and O(n^3) memory (Pitler, TACL 2014).

In the pictures here and in charts/oneec/rules.py:

    .---.    an arc, in either direction
    .....    an arc that crosses one of these, wherever it ends
    a === b  the words between a and b, as an E, C or S (see below); within a complex, as a gap
    a ( ) b  the same with crossed arcs: complex a b or crossed_pair a b

Uncrossed arcs are derived as in a projective third-order parser (Koo & Collins, ACL 2010). In its items, h is a head
and g is the head of h. If g is not visible, g = n+2; for h = 0, which has no head, g = n+1:

    E h m g    everything between h and m with the arc h->m: m has all its dependents on the side of h
    C h e g    h with all its dependents on one side, e being the last word in their subtrees
    S a b g    everything between a and b, neither of which depends on the other: both have their heads outside

Crossed arcs are collected in items "complex a b", where a and b are the outermost nodes of the arcs. The rules in
rules.py derive complexes; rules.py also defines the items of crossed arcs and compares them to Pitler's. Between the
nodes of a complex are gaps, which in turn are C and S:

       .-----------.
       |     .-----|-----.           complex a b: its arcs are crossed, each node but a and b has its head;
       a === u === t === b           the gaps a === u: C a u if u depends on a, C u a if a depends on u, or else S a u

The head g of h is not visible from m if a crossed arc h->k lies between h->m and g->h, in the order of the arcs around h (to
the right from the shortest to the longest, then to the left from the longest to the shortest):

       .--------.---------.              .-----------------.
       |        |      ...|...           |---------.       |
       |        |      :  |  :           |      ...|...    |
       |        |---.  :  |  :           |---.  :  |  :    |
       g        h   m     k              h   m     k       g

In the gaps of a complex, g = n+2. Let h be a node of the complex, with a dependent m in a gap and a head outside this
gap. Either the arc to h is crossed, or the head of h is in the gap on the other side of h. In the latter case, h also
has a crossed arc to a dependent, since every node of a complex has a crossed arc. This arc does not enter a gap, so it
lies between h->m and the arc to h, and hides the head of h from m.

C h h g is 0, and the goal is C 0 n with g = n+1. Complexes are used as follows:

    E h m g    .-----------.
               |-----.     |         m's inner sibling s is visible: E h s g, S s m h, and sibling[s, m];
               h === s === m         or there is none: C m h+1 h, and sibling[n+1, m];
               h ( ) w === m         or its arc is crossed: crossed_pair h w, C m w h (see below)
    C h e g    h ( ) u === e         h's outermost arc is crossed: complex h u, where u depends on h, and C u e n+2
    S a b g    a === w === b         C a w-1 g, C b w g;
               a === v ( ) w === b   or crossed arcs between a's and b's: C a v g, complex v w, C b w g

Here w is the innermost word in the subtree of m (or b), perhaps m (or b) itself. crossed_half h v is a C h v in which
the arc from h to its outermost dependent is crossed. In crossed_pair h w, the arc from h to its outermost dependent
towards m is also crossed. Either the words below h end before w, or one complex has words of both h and m:

       .-----.                                 .-----.     .-----.
       |  ...|...                              |  ...|...  |  .--|--.
       h === u === v w === m                   h === u === v  x  y  w === m

       v = w-1: crossed_half h v               crossed_half h v, complex v w (or v = h, with all its dependents in the complex)

Sentences may have any length. The score of a tree does not depend on its derivation. An arc gets its score in the step
that makes it, and the definitions of the items determine whether the arc is crossed, and which sibling and grandparent
are visible.

With a single root, node 0 may have only one dependent. A crossed arc from 0 must be the longest arc of 0 (`longest` and
`has_two` in rules.py). An uncrossed arc from 0 must be its only arc (`may_have_two` in layout.hpp and projective.hpp).

The chart is in C++, in charts/oneec/. Read its files in this order:

    rules.py        the rules of complexes
    generate.py     writes the rules as kernels (recurrences.hpp) when the decoders are built
    complexes.hpp   calls the kernels: `Complexes::fill` is the order in which they fill the chart
    projective.hpp  the items E, C and S: `arcs` is where an uncrossed arc gets its score
    trace.hpp       finds the best tree in the filled chart
    blocks.hpp, layout.hpp and tables.hpp   the memory of the chart

The chart of `marginals` uses complexes.hpp and projective.hpp with the kernels for sums, and sum_tables.hpp as its
memory. Its outside pass is the reverse of these: inside_outside.hpp for complexes, sum_projective.hpp for E, C and S.
"""

import numpy as np

from mh4.decoders.sentences cimport Factories, Workspace

from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation, Marginals
from mh4.decoders.sentences import Decoding, Summing

cdef extern from "factories.hpp":
    const Factories* const* VARIANTS


cdef class OneEC(Workspace):
    def __cinit__(self):
        self.make(VARIANTS)


def decode(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Derivation:
    """Return the highest-scoring 1-Endpoint-Crossing tree over n words: all arcs that cross a given arc share an endpoint.

    This takes O(n^4) time and O(n^3) memory (Pitler, TACL 2014).

    arc, crossed_arc: float32 (n+1, n+1), indexed [h, m].
    grandparent, sibling: float32 (n+2, n+1), indexed [g, m] and [s, m]; row n+1 stands for none.
    cost: float32 (n+1, n+1), cost[h, m] is added for every arc h->m.
    heads: int array (n+1,); if given, only trees with these heads are considered. -1 allows any head, -2 any head
        except the root. If all heads are given, no search is needed.
    single_root: exactly one dependent of node 0.

    The score of an arc h->m that some arc crosses is crossed_arc[h, m]. The score of any other arc is arc[h, m], plus
    sibling[s, m] and grandparent[g, m] where s and g are visible:
        s is the dependent of h closest to m between h and m. It is visible if there is none or no arc crosses h->s.
        g is the head of h, or none for h = 0. It is visible if no arc crosses g->h, and no crossed arc from h to a
        dependent lies between h->m and g->h, in the order of the arcs around h (drawn at the top of this file).
    A score or cost of -1e30 or less, such as -inf, forbids a part or an arc. The search is in float32; the score of the
    tree found is computed from the scores as given.

    Without words (n = 0) the tree is just the root.
    Returns a Derivation with parts "arc", "crossed_arc", "grandparent" and "sibling" of two columns, with one row for
    each such part of the tree; it has no transitions.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if no 1-Endpoint-Crossing tree has these heads (and a single root, if required);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    return Decoding(_tensors(arc, crossed_arc, grandparent, sibling), heads, single_root, cost).alone(OneEC)


def marginals(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Marginals:
    """Return the probabilities of arcs and of other parts over all 1-Endpoint-Crossing trees of n words.

    The probability of a tree is proportional to the exponential of its score. This takes O(n^4) time and O(n^3) memory.
    The arguments are as for `oneec.decode`; float64 scores are not rounded to float32. The parts "arc" and
    "crossed_arc" are the probabilities that a tree has the arc uncrossed or crossed; they add up to `arcs`. The parts
    "grandparent" and "sibling" are the probabilities that the score of a tree includes this part.

    heads: integers (n+1,), -1 at 0; if given, only trees with these heads count, as for `decode`. If all heads are
        given, this takes O(n^2) time.

    Without words (n = 0) the only tree is the root.
    Returns Marginals, whose arrays are float64; `parts` has the shapes of the scores.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, heads with a cycle,
    or single_root without words); NotInClass if no 1-Endpoint-Crossing tree has these `heads` (and a single root, if
    required); MemoryError if the sentence is too long for the memory of the machine.
    """
    return Summing(_tensors(arc, crossed_arc, grandparent, sibling), heads, single_root).alone(OneEC)


def _tensors(arc: np.ndarray, crossed_arc: np.ndarray, grandparent: np.ndarray, sibling: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores by name, as C-contiguous arrays. Raises ValueError for wrong types or shapes."""
    n = arguments.words("arc", arc, 1)
    given = {
        "arc": (arc, n + 1),
        "crossed_arc": (crossed_arc, n + 1),
        "grandparent": (grandparent, n + 2),
        "sibling": (sibling, n + 2),
    }
    return {name: arguments.tensor(name, tensor, (rows, n + 1)) for name, (tensor, rows) in given.items()}
