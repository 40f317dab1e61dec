"""Many sentences at once: padded arrays, on several threads."""

from mh4.decoders.batch.calls import decode, hessian_product, log_partition, marginals, sample
from mh4.decoders.batch.results import BatchMarginals, Derivations

__all__ = ["BatchMarginals", "Derivations", "decode", "hessian_product", "log_partition", "marginals", "sample"]
