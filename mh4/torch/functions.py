"""Sums over derivations as functions that PyTorch can differentiate.

The derivative of the log-partition function with respect to a score is the expected count of this score; the derivative of an expected
count is the covariance of the two counts. Both are exact. A third derivative raises RuntimeError.
"""

from __future__ import annotations  # the documentation is made without PyTorch

from typing import Any

import torch

from mh4.torch.sentences import Sentences


class LogPartition(torch.autograd.Function):
    """The log-partition function of each sentence, float64 (B,). tensors: their scores, on the processor.

    differentiated: whether a gradient may be needed; if so, the same pass computes it.
    """

    @staticmethod
    def forward(ctx: Any, of: Sentences, differentiated: bool, *tensors: torch.Tensor) -> torch.Tensor:
        ctx.of = of
        ctx.save_for_backward(*tensors)
        return torch.from_numpy(of.sums.log_partition if differentiated else of.log_partition).clone()

    @staticmethod
    def backward(ctx: Any, by: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        _, *counts = ExpectedCounts.apply(ctx.of, *ctx.saved_tensors)
        products = [by.view(-1, *[1] * (count.dim() - 1)) * count for count in counts]
        return None, None, *[product.to(tensor.dtype) for product, tensor in zip(products, ctx.saved_tensors, strict=True)]


class ExpectedCounts(torch.autograd.Function):
    """The probabilities of arcs, float64 (B, N+1, N+1), and for each score tensor the expected counts, float64 of its shape."""

    @staticmethod
    def forward(ctx: Any, of: Sentences, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.of = of
        ctx.save_for_backward(*tensors)
        return tuple(torch.from_numpy(each).clone() for each in (of.sums.arcs, *[of.sums.parts[name] for name in of.arrays]))

    @staticmethod
    def backward(ctx: Any, *by: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        products = HessianProduct.apply(ctx.of, len(by), *by, *ctx.saved_tensors)
        return None, *[product.to(tensor.dtype) for product, tensor in zip(products, ctx.saved_tensors, strict=True)]


class HessianProduct(torch.autograd.Function):
    """The derivative of the expected counts in a direction, float64 of the shape of each score tensor.

    Its arguments are the number of results of `ExpectedCounts`, the direction for each of them, and the scores.
    """

    @staticmethod
    def forward(ctx: Any, of: Sentences, count: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        by_arcs, *by_parts = [direction.numpy() for direction in tensors[:count]]
        products = of.hessian_product(by_arcs, dict(zip(of.arrays, by_parts, strict=True)))
        return tuple(torch.from_numpy(products[name]) for name in of.arrays)

    @staticmethod
    def backward(ctx: Any, *by: torch.Tensor) -> None:
        raise RuntimeError(
            "log_partition and log_prob can be differentiated twice, and marginals, entropy, cross_entropy and kl once"
        )
