from typing import Optional

import numpy as np

from mh4.decoders.mh4.inside_outside import marginals as marginals
from mh4.decoders.shared.derivation import Derivation

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: Optional[np.ndarray] = None,
    *,
    arcs: Optional[np.ndarray] = None,
    cost: Optional[np.ndarray] = None,
    heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Derivation: ...
