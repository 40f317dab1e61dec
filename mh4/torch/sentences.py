"""A batch of sentences in the form that the decoders need: numpy arrays on the processor."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from mh4.decoders import batch
from mh4.decoders.arguments import flag, no_derivation
from mh4.decoders.batch import DecoderName


def require_tensor(name: str, value: object) -> None:
    """Raise ValueError unless the value is a tensor; name: what messages call it."""
    if not isinstance(value, torch.Tensor):
        raise ValueError("%s: expected a tensor, got %s" % (name, type(value).__name__))


def has_integers(tensor: torch.Tensor) -> bool:
    """Return whether a tensor has an integer type."""
    return not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool)


def on_processor(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor on the processor, with floating-point numbers in a type that numpy has. This is differentiable."""
    tensor = tensor.to("cpu")
    return tensor.float() if tensor.is_floating_point() and tensor.dtype != torch.float64 else tensor


def array(tensor: torch.Tensor) -> np.ndarray:
    """Return the numbers of a tensor, if possible in the same memory. Raises RuntimeError if it has none, as under `torch.func`."""
    try:
        return on_processor(tensor.detach()).numpy(force=True)
    except RuntimeError as error:
        raise RuntimeError(
            "the decoders cannot read the numbers of a tensor on the device meta or under torch.func: %s" % error
        ) from None


class Sentences:
    """The sentences of a batch, what their decoder returns for them, and their sums, which are computed once."""

    def __init__(
        self,
        name: DecoderName,
        tensors: Mapping[str, torch.Tensor],
        lengths: np.ndarray,
        single_root: bool,
        threads: int | None,
        heads: np.ndarray | None = None,
    ) -> None:
        """heads: if given, only trees with these heads count in sums. Raises ValueError for tensors that the decoder does not have."""
        self.name, self.heads = name, heads
        self.options: dict[str, Any] = {"single_root": flag(single_root), "threads": threads}
        given = {tensor: array(numbers) for tensor, numbers in tensors.items()}
        self.arrays, self.lengths, self.longest = batch.checked(name, given, lengths)
        # Results so far. Without a lock, threads may compute the same result, but a fork cannot inherit a locked lock.
        self._best: batch.Derivations | None = None
        self._sums: batch.BatchMarginals | None = None
        self._log_partition: np.ndarray | None = None

    def decode(self, cost: np.ndarray | None = None, heads: np.ndarray | None = None) -> batch.Derivations:
        """Return the best derivations."""
        return batch.decode(self.name, self.arrays, self.lengths, cost=cost, heads=heads, **self.options)

    @property
    def best(self) -> batch.Derivations:
        """The best derivations, without costs or given heads."""
        if self._best is None:
            self._best = self.decode()
        return self._best

    @property
    def sums(self) -> batch.BatchMarginals:
        """The sums over all derivations of each sentence, which may have none."""
        if self._sums is None:
            self._sums = self._summed(batch.marginals)
            self._log_partition = self._sums.log_partition
        return self._sums

    @property
    def log_partition(self) -> np.ndarray:
        """The log-partition function, float64 (B,), -inf without a derivation; computed without the other sums."""
        if self._log_partition is None:
            self._log_partition = self._summed(batch.log_partition)
        return self._log_partition

    def _summed(self, function: Callable[..., Any]) -> Any:
        return function(self.name, self.arrays, self.lengths, heads=self.heads, allow_none=True, **self.options)

    def sample(self, samples: int, seed: int) -> np.ndarray:
        """Return the heads of trees of random derivations, int32 (B, samples, N+1)."""
        return batch.sample(self.name, self.arrays, self.lengths, samples, rng=seed, **self.options)

    def require_derivations(self) -> None:
        """Raise ValueError if a sentence has no derivation."""
        for b in np.flatnonzero(self.log_partition == -np.inf)[:1]:
            raise ValueError("sentence %d: %s" % (b, no_derivation()))

    def hessian_product(self, by_arcs: np.ndarray, by_parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the derivatives by scores of the sum of ``by_arcs * sums.arcs`` and all ``by_parts * sums.parts``."""
        direction = dict(by_parts)
        # Each arc of a derivation uses exactly one score of these tensors, at its head and dependent.
        for tensor in ("arc", "crossed_arc") if self.name == "1ec" else ("arcs",):
            if tensor in direction:
                direction[tensor] = direction[tensor] + by_arcs
            elif by_arcs.any():  # charts without arcs are faster
                direction[tensor] = by_arcs
        return batch.hessian_product(self.name, self.arrays, direction, self.lengths, heads=self.heads, **self.options)
