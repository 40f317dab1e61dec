"""Maximum spanning trees: any tree, arc-factored."""

from mh4.decoders.mst.decoder import decode
from mh4.decoders.mst.matrix_tree import marginals, sample

__all__ = ["decode", "marginals", "sample"]
