from collections.abc import Sequence

import numpy as np

def core(heads: np.ndarray | Sequence[int]) -> tuple[np.ndarray, np.ndarray]: ...
