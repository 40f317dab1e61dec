"""MH4: the mildly non-projective trees of the paper."""

from mh4.decoders.shared.variants import search_path

__path__ = search_path(__path__)

from mh4.decoders.mh4.decoder import decode, marginals, sample  # noqa: E402

__all__ = ["decode", "marginals", "sample"]
