import numpy as np

from mh4.decoders.shared.derivation import Marginals

def marginals(arcs: np.ndarray, *, heads: np.ndarray | None = None, single_root: bool = False) -> Marginals: ...
def sample(
    arcs: np.ndarray, *, samples: int, rng: int | np.random.Generator | None = None, single_root: bool = False
) -> np.ndarray: ...
