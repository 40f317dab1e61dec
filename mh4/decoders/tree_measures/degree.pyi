from collections.abc import Sequence

import numpy as np

def smallest_k(heads: np.ndarray | Sequence[int]) -> int: ...
