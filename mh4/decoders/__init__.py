"""Exact decoders: numpy scores in, the best Derivation out.

The algorithms are the modules mh3, mh4, mhk, oneec and mst, each with a function ``decode``; import the one you need::

    from mh4.decoders import mh4
    derivation = mh4.decode(shift, reduce_s0b0, reduce_s1s0)

Nodes are 0 for the root, 1..n for the words and n+1 for the end of the sentence, which can be the first buffer
element but has no arcs. ``heads`` is an int32 array of length n+1 with ``heads[0] == -1``.
None of the decoders needs DyNet; all release the GIL while they search.
"""

from .derivation import Derivation, NotInClass

__all__ = ["Derivation", "NotInClass"]
