from typing import Optional

import numpy as np

from mh4.decoders.derivation import Derivation
from mh4.decoders.mst_marginals import marginals as marginals

def decode(
    arcs: np.ndarray,
    *,
    cost: Optional[np.ndarray] = None,
    heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Derivation: ...
