from typing import Optional

import numpy as np

from mh4.decoders.shared.derivation import Marginals

def marginals(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    arcs: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Marginals: ...
