from typing import Optional

import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    arc: np.ndarray,
    crossed_arc: np.ndarray,
    grandparent: np.ndarray,
    sibling: np.ndarray,
    *,
    cost: Optional[np.ndarray] = None,
    heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Derivation: ...
