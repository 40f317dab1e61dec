import numpy as np

from mh4.decoders.shared.derivation import Marginals

def marginals(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Marginals: ...
