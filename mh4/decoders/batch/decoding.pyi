from collections.abc import Mapping

import numpy as np

from mh4.decoders.batch.results import Derivations

def decode(
    name: str,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> Derivations: ...
