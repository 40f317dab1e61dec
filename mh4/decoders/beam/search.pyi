import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    beam: int = 1,
    single_root: bool = False,
) -> Derivation: ...
def decode_local(
    s0b0: np.ndarray, s1s0: np.ndarray | None = None, s2s1: np.ndarray | None = None, *, beam: int = 1, single_root: bool = False
) -> Derivation: ...
def local_parts(rows: np.ndarray, n: int) -> dict[str, np.ndarray]: ...
