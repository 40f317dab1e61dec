from typing import Optional

import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    arcs: np.ndarray,
    k: int,
    *,
    cost: Optional[np.ndarray] = None,
    heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Derivation: ...
