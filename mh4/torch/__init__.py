"""Tree distributions for PyTorch, over the exact decoders; needs ``pip install 'mh4[torch]'``.

Nothing else in mh4 imports PyTorch::

    from mh4.torch import TreeDistribution
    trees = TreeDistribution("mh4", {"shift": shift, "reduce_s0b0": reduce_s0b0}, lengths)
    loss = -trees.log_prob(heads).mean()
"""

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError("mh4.torch needs PyTorch, which is not installed: pip install 'mh4[torch]'", name="torch") from None

from mh4.torch.distribution import TreeDistribution

__all__ = ["TreeDistribution"]
