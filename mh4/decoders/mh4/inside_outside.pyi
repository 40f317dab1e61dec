import numpy as np

from mh4.decoders.shared.derivation import Marginals

def marginals(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Marginals: ...
def sample(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    samples: int,
    rng: int | np.random.Generator | None = None,
    arcs: np.ndarray | None = None,
    single_root: bool = False,
) -> np.ndarray: ...
