"""Exact decoders: from numpy scores to the best Derivation.

Each algorithm is a module, mh3, mh4, mh5, mhk, oneec or mst, with a function ``decode``; import the one you need::

    from mh4.decoders import mh4
    derivation = mh4.decode(shift, reduce_s0b0, reduce_s1s0)

mh3, mh4 and mst also have a function ``marginals``: from scores to the Marginals of all derivations.

Of the other modules, plain_mh4 is MH4 to read, beam searches instead of filling a chart, mh4_chart, mh4_full and mh4_tree are the
charts of mh4, mh5_chart, mh5_full and mh5_tree those of mh5, mh3_marginals, mh4_marginals and mst_marginals sum over derivations instead
of finding the best, replay turns transition codes into a Derivation, arguments checks what is given and says what scores can be, memory
has the error for what does not fit, and core, degree and measures say which class a tree is in (for mh4.trees).

Nodes are 0 for the root, 1..n for the words and n+1 for the end of the sentence, which can be the first buffer
element but has no arcs. ``heads`` is an int32 array of length n+1 with ``heads[0] == -1``.
A wheel has the modules that gain most from it compiled for AVX-512 and for AVX2 as well, in folders of these names, from which the
first that the processor can run is imported. MH4_SIMD=avx512, avx2 or baseline selects another; the results are the same to the bit.

None of the decoders needs DyNet; all but plain_mh4 release the GIL while they search.
"""

import os

from mh4.errors import InputError

from . import processor
from .derivation import Derivation, Marginals, NotInClass

__all__ = ["Derivation", "Marginals", "NotInClass"]

_variants = processor.variants()
if _variants:
    _chosen = os.environ.get("MH4_SIMD", _variants[0])
    if _chosen not in _variants:
        raise InputError("MH4_SIMD=%s: expected one of: %s" % (_chosen, " ".join(_variants)))
    __path__.insert(0, os.path.join(__path__[0], _chosen))
