from collections.abc import Mapping

import numpy as np

from mh4.decoders.batch.results import BatchMarginals

def marginals(
    name: str,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    single_root: bool = False,
    threads: int | None = None,
) -> BatchMarginals: ...
