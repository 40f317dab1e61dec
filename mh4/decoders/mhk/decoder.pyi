import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    arcs: np.ndarray, k: int, *, cost: np.ndarray | None = None, heads: np.ndarray | None = None, single_root: bool = False
) -> Derivation: ...
