"""MH5: nearly all trees of treebanks, in more time and memory."""

from mh4.decoders.shared.variants import search_path

__path__ = search_path(__path__)

from mh4.decoders.mh5.decoder import decode  # noqa: E402

__all__ = ["decode"]
