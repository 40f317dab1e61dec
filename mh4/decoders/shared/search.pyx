"""The best derivation of a sentence by an exact decoder of transitions, or an error."""

from libc.math cimport INFINITY

from mh4.decoders.shared.arguments cimport address
from mh4.decoders.shared.replay cimport Scores, Tensors, derivation

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces


cdef class Search:
    pass


def best_derivation(full, tree, Tensors tensors, heads, bint single_root, int k, double most=INFINITY):
    """Return the best Derivation or, if its chart takes more than `most` bytes, how many it takes.

    full: the class of the Search for all derivations. tree: that of the Search for those of one tree; None if `full` finds them, too.
    heads: of each word, -1 where it is open, or None. k: of MH_k.
    """
    heads, whole = arguments.given_heads(heads, tensors.scores.n, single_root)

    def possible():
        return searched(full, False, tensors.zeros(), heads, single_root, most) is not None

    by_items = whole and tree is not None
    found = searched(tree if by_items else full, by_items, tensors, heads, single_root, most)
    if found is None:
        raise arguments.no_derivation(heads, k, possible)
    return found


cdef searched(kind, bint by_items, Tensors tensors, heads, bint single_root, double most):
    """As `best_derivation`, of heads that have been checked, but None if there is no derivation.

    kind: the class of the Search; by_items: whether it has the items of one tree, otherwise arcs that contradict heads are forbidden.
    """
    cdef Search workspace = workspaces.take(kind)
    cdef BestDerivation* search = workspace.search
    cdef Scores scores = tensors.scores
    if heads is not None and not by_items:
        allowed = arguments.with_heads(tensors.by_arc, heads, arguments.FLOAT32)
        scores.by_arc = <const float*> address(allowed)
    search.scores = scores
    search.single = single_root
    search.heads = <const int*> address(heads) if by_items else NULL
    cdef double needed
    cdef bint derived = False
    try:
        with nogil:
            search.prepare()
            needed = search.bytes_needed()
            if needed <= most:
                derived = search.find()
    except MemoryError:
        raise out_of_memory(scores.n, search.bytes_needed()) from None
    result = derivation(search.codes.data(), &scores) if derived else None
    search.release()
    workspaces.give_back(workspace)
    return needed if needed > most else result
