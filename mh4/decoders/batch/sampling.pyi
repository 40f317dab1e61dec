from collections.abc import Mapping

import numpy as np

def sample(
    name: str,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    samples: int,
    *,
    rng: int | np.random.Generator | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> np.ndarray: ...
