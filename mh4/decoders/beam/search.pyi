from typing import Optional

import numpy as np

from mh4.decoders.shared.derivation import Derivation

def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: Optional[np.ndarray] = None,
    *,
    arcs: Optional[np.ndarray] = None,
    beam: int = 1,
    single_root: bool = False,
) -> Derivation: ...
def decode_local(
    s0b0: np.ndarray,
    s1s0: Optional[np.ndarray] = None,
    s2s1: Optional[np.ndarray] = None,
    *,
    beam: int = 1,
    single_root: bool = False,
) -> Derivation: ...
def local_parts(rows: np.ndarray, n: int) -> dict[str, np.ndarray]: ...
