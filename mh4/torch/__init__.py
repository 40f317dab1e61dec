"""Tree distributions for PyTorch, over the exact decoders; needs PyTorch.

Nothing else in mh4 imports PyTorch::

    from mh4.torch import Scores, TreeDistribution
    scores = Scores("mh4", 768)  # a module, with parameters to train along with the encoder's
    trees = TreeDistribution("mh4", scores(hidden, lengths), lengths)
    loss = -trees.log_prob(heads).mean()
"""

from mh4.errors import needs

with needs("mh4.torch", "torch", "PyTorch"):
    import torch  # noqa: F401

from mh4.torch.distribution import TreeDistribution
from mh4.torch.scores import Scores

__all__ = ["Scores", "TreeDistribution"]
