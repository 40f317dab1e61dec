"""Decode numpy scores: find the best Derivation, exactly or by beam search, compute marginals, and sample trees.

Each algorithm is a module with a function ``decode``; import the one you need::

    from mh4.decoders import mh4
    derivation = mh4.decode(shift, reduce_s0b0, reduce_s1s0)

::

    mh3     projective trees, O(n^3); also ``marginals``, the sums over all derivations, and ``sample``, random ones
    mh4     the paper's mildly non-projective trees, O(n^4); also ``marginals`` and ``sample``
    mh5     nearly all trees in treebanks, O(n^5)
    mhk     multi-headed trees of any k, arc-factored
    mst     any tree, arc-factored; also ``marginals`` and ``sample``
    oneec   1-Endpoint-Crossing trees, O(n^4); also ``marginals``
    kbest   the k best trees of any of these decoders, in order
    beam    transition sequences of MH3, MH4 and MH5, by beam search (not exact)
    batch   padded arrays of many sentences, on several threads, for mh3, mh4, mh5, mst and oneec

Nodes are 0 for the root, 1..n for the words and n+1 for the end of the sentence, which can be the first buffer
element but has no arcs. ``heads`` is an int32 array of length n+1 with ``heads[0] == -1``.
The charts (charts/) are compiled for AVX-512, for AVX2 and for any processor. sentences.pyx chooses the fastest variant
that the processor can run. MH4_SIMD=avx512, avx2 or baseline selects another one; the results are the same to the bit.

No decoder needs DyNet, and all release the GIL while they search. `reference` implements mh3 to mh5 and oneec by their
definitions in plain Python: read it first.
"""

from mh4.decoders.derivation import Derivation, Marginals, NotInClass

__all__ = ["Derivation", "Marginals", "NotInClass"]
