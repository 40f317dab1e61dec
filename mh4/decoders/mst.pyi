import numpy as np

from mh4.decoders.derivation import Derivation, Marginals

def decode(
    arcs: np.ndarray, *, cost: np.ndarray | None = ..., heads: np.ndarray | None = ..., single_root: bool = ...
) -> Derivation: ...
def marginals(arcs: np.ndarray, *, heads: np.ndarray | None = ..., single_root: bool = ...) -> Marginals: ...
def sample(
    arcs: np.ndarray,
    *,
    samples: int,
    rng: int | np.random.Generator | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
) -> np.ndarray: ...
