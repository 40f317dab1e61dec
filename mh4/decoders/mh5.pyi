import numpy as np

from mh4.decoders.derivation import Derivation

MAX_BYTES: int

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = ...,
    *,
    arcs: np.ndarray | None = ...,
    cost: np.ndarray | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
    max_bytes: int = ...,
) -> Derivation: ...
def too_large(n: int, needed: float, max_bytes: float = ...) -> str: ...
