"""Maximum spanning trees: any tree, arc-factored."""

from mh4.decoders.mst.decoder import decode, marginals, sample

__all__ = ["decode", "marginals", "sample"]
