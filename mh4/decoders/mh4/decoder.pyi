import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Derivation: ...
