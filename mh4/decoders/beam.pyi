import numpy as np

from mh4.decoders.derivation import Derivation

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = ...,
    *,
    arcs: np.ndarray | None = ...,
    beam: int = ...,
    single_root: bool = ...,
) -> Derivation: ...
def decode_local(
    s0b0: np.ndarray, s1s0: np.ndarray | None = ..., s2s1: np.ndarray | None = ..., *, beam: int = ..., single_root: bool = ...
) -> Derivation: ...
def local_parts(rows: np.ndarray, n: int) -> dict[str, np.ndarray]: ...
