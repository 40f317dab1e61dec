import numpy as np

from mh4.decoders.shared.derivation import Marginals

def marginals(arcs: np.ndarray, *, single_root: bool = False) -> Marginals: ...
