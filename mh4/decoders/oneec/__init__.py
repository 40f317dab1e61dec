"""1-Endpoint-Crossing trees, third-order."""

from mh4.decoders.shared.variants import search_path

__path__ = search_path(__path__)

from mh4.decoders.oneec.decoder import decode, marginals  # noqa: E402

__all__ = ["decode", "marginals"]
