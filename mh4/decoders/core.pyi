from typing import Tuple

import numpy as np

def core(heads: np.ndarray) -> Tuple[np.ndarray, np.ndarray]: ...
