"""MH3: all projective trees, by the arc-hybrid transition system."""

from mh4.decoders.mh3.decoder import decode, marginals, sample

__all__ = ["decode", "marginals", "sample"]
