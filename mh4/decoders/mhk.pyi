from collections.abc import Sequence

import numpy as np

from mh4.decoders.derivation import Derivation

def decode(
    arcs: np.ndarray, k: int, *, cost: np.ndarray | None = ..., heads: np.ndarray | None = ..., single_root: bool = ...
) -> Derivation: ...
def smallest_k(heads: np.ndarray | Sequence[int]) -> int: ...
