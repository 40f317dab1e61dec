import numpy as np

from mh4.decoders.derivation import Derivation, Marginals

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    arcs: np.ndarray | None = ...,
    cost: np.ndarray | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
) -> Derivation: ...
def marginals(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    arcs: np.ndarray | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
) -> Marginals: ...
def sample(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    samples: int,
    rng: int | np.random.Generator | None = ...,
    arcs: np.ndarray | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
) -> np.ndarray: ...
