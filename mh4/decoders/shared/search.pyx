"""The best derivation of a sentence by an exact decoder of transitions, or an error."""

from libc.math cimport INFINITY

from mh4.decoders.shared.arguments cimport address
from mh4.decoders.shared.replay cimport Tensors, derivation

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces


cdef class Search:
    pass


def best_derivation(full, tree, Tensors tensors, heads, bint single_root, int k, double most=INFINITY):
    """The best Derivation; if the chart that it takes needs more than `most` bytes, how many it needs.

    full, tree: the classes of Search for all derivations and for those of one tree. heads: that tree, or None; k: that of MH_k.
    """
    heads = arguments.given_tree(heads, tensors.scores.n, single_root)
    cdef Search workspace = workspaces.take(full if heads is None else tree)
    cdef BestDerivation* search = workspace.search
    search.scores = tensors.scores
    search.single = single_root
    search.heads = <const int*> address(heads)
    cdef double needed
    cdef bint derived = False
    try:
        with nogil:
            search.prepare()
            needed = search.bytes_needed()
            if needed <= most:
                derived = search.find()
    except MemoryError:
        raise out_of_memory(tensors.scores.n, search.bytes_needed()) from None
    result = derivation(search.codes.data(), &search.scores) if derived else None
    search.release()
    workspaces.give_back(workspace)
    if needed > most:
        return needed
    if not derived:
        raise arguments.no_derivation(heads, k)
    return result
