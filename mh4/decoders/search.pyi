import numpy as np

VARIANTS: tuple[str, ...]
VARIANT: str

def best_tree(
    kind: type, tensors: dict[str, np.ndarray], cost: np.ndarray | None, single_root: bool, heads: np.ndarray | None = ...
) -> tuple[np.ndarray, float]: ...
