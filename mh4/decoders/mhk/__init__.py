"""MHk: arc-factored multi-headed trees, for any k."""

from mh4.decoders.mhk.decoder import decode

__all__ = ["decode"]
