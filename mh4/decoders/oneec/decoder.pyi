import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Derivation: ...
