"""1-Endpoint-Crossing trees, third-order."""

from mh4.decoders.shared.variants import search_path

__path__ = search_path(__path__)

from mh4.decoders.oneec.decoder import decode  # noqa: E402
from mh4.decoders.oneec.inside_outside import marginals  # noqa: E402

__all__ = ["decode", "marginals"]
