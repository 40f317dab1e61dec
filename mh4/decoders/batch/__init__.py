"""Many sentences at once: padded arrays, on several threads."""

from mh4.decoders.batch.decoding import decode
from mh4.decoders.batch.results import BatchMarginals, Derivations
from mh4.decoders.batch.sampling import sample
from mh4.decoders.batch.summing import hessian_product, log_partition, marginals

__all__ = ["BatchMarginals", "Derivations", "decode", "hessian_product", "log_partition", "marginals", "sample"]
