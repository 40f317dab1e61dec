from typing import Tuple

import numpy as np

def decode(shift: np.ndarray, s0b0: np.ndarray, s1s0: np.ndarray, cost: np.ndarray) -> Tuple[float, np.ndarray]: ...
