"""Tree distributions for PyTorch, over the exact decoders; needs ``pip install 'mh4[torch]'``.

Nothing else in mh4 imports PyTorch::

    from mh4.torch import Scores, TreeDistribution
    scores = Scores("mh4", 768)  # a module with parameters, as those of the encoder
    trees = TreeDistribution("mh4", scores(hidden, lengths), lengths)
    loss = -trees.log_prob(heads).mean()
"""

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError("mh4.torch needs PyTorch, which is not installed: pip install 'mh4[torch]'", name="torch") from None

from mh4.torch.distribution import TreeDistribution
from mh4.torch.scores import Scores

__all__ = ["Scores", "TreeDistribution"]
