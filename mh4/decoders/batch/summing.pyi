from collections.abc import Mapping

import numpy as np

from mh4.decoders.batch.results import BatchMarginals

def marginals(
    name: str,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> BatchMarginals: ...
def log_partition(
    name: str,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> np.ndarray: ...
def hessian_product(
    name: str,
    scores: Mapping[str, np.ndarray],
    direction: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> dict[str, np.ndarray]: ...
