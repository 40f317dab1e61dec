import numpy as np

from mh4.decoders.derivation import Derivation, Marginals

def decode(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    cost: np.ndarray | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
) -> Derivation: ...
def marginals(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
) -> Marginals: ...
