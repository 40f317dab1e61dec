"""Distributions over the dependency trees of sentences."""

from __future__ import annotations  # the documentation is made without PyTorch

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from mh4.decoders import batch
from mh4.decoders.arguments import LARGEST
from mh4.decoders.batch import DecoderName
from mh4.errors import counted
from mh4.torch.functions import ExpectedCounts, LogPartition
from mh4.torch.sentences import Sentences, array, has_integers, on_processor, require_tensor


class TreeDistribution:
    """Distributions over the derivations of B sentences of up to N words, with probabilities proportional to exp(score).

    name: the decoder, "mh3", "mh4", "mh5", "mst" or "1ec". For mst and 1ec, derivations are trees. For the others, they
        are the transition sequences of the chart, of which a tree may have several: ``log_prob`` is the log-probability
        of a tree, over all its derivations; ``argmax`` is the tree of the best derivation; ``entropy``,
        ``cross_entropy`` and ``kl`` are over derivations. mh5 has only ``argmax``, ``max`` and ``structured_hinge``, as
        there is no sum over its derivations. 1ec has everything except ``sample``.
    scores: the decoder's score tensors, of any floating-point type and all on one device, with sentences along the
        first axis: for example {"shift": (B, N+2, N+2), "reduce_s0b0": (B, 6, N+2, N+2)} for mh4, as for
        `mh4.decoders.batch.decode`. A score of -inf forbids what it scores. The padding may contain anything, and gets
        gradients of 0. Do not change the scores in place while the distribution is in use.
    lengths: the number of words of each sentence, an integer tensor (B,).
    single_root: exactly one dependent of node 0.
    threads: how many to use; by default one for each core that this process may use.

    As in PyTorch's own distributions, ``batch_shape`` is (B,) and ``event_shape`` is (N+1,).

    Results have the device and the type of the scores (if these have several types, the one that PyTorch promotes them
    to). They are computed on the CPU. Sums are in float64. The best derivation is found in float32, except by mst, but
    its score is computed from the given numbers.

    All results are exact, and all except ``argmax`` and ``sample`` are differentiable in every score tensor:
    ``log_prob`` and ``log_partition`` twice, ``max`` and ``structured_hinge`` any number of times (by the parts of the
    derivations found), the others once. No gradient is approximated.

    Raises ValueError for an unknown decoder, for tensors that are missing, unknown, not of floating-point numbers or of wrong
    dimensions, and for lengths beyond the padding; properties and methods also raise it, with the number of the
    sentence, for scores that are NaN, or 1e30 or more, and if nothing is derivable.
    """

    def __init__(
        self,
        name: DecoderName,
        scores: Mapping[str, torch.Tensor],
        lengths: torch.Tensor,
        *,
        single_root: bool = True,
        threads: int | None = None,
    ) -> None:
        self.name = name
        if not isinstance(scores, Mapping):
            raise ValueError("scores: expected the tensors by name, got %s" % type(scores).__name__)
        self.scores = {tensor: numbers for tensor, numbers in scores.items() if numbers is not None}
        for tensor, numbers in self.scores.items():
            require_tensor(tensor, numbers)
        require_tensor("lengths", lengths)
        devices = {numbers.device: tensor for tensor, numbers in self.scores.items()}
        if len(devices) > 1:
            raise ValueError("scores: %s" % ", but ".join("%s is on %s" % (tensor, device) for device, tensor in devices.items()))
        self._sentences = Sentences(name, self.scores, array(lengths), single_root, threads)
        self.batch_shape, self.event_shape = lengths.shape, torch.Size([self._sentences.longest + 1])
        (self._device,) = devices
        self._dtype = functools.reduce(torch.promote_types, [numbers.dtype for numbers in self.scores.values()])

    def __repr__(self) -> str:
        """Return the decoder, the size of the batch, and the type and device of the results; not the many scores."""
        lengths = self._sentences.lengths
        root = "a single root" if self._sentences.options["single_root"] else "any number of roots"
        size = "%s of up to %s" % (counted(len(lengths), "sentence"), counted(int(lengths.max(initial=0)), "word"))
        return "<mh4.torch.TreeDistribution %s, %s, %s; %s, %s>" % (self.name, size, root, self._dtype, self._device)

    @property
    def argmax(self) -> torch.Tensor:
        """The tree of the best derivation of each sentence, by the head of each word: long (B, N+1), -1 at 0 and in the padding."""
        return torch.from_numpy(self._sentences.best.heads).to(self._device, torch.long)

    @property
    def max(self) -> torch.Tensor:
        """The score of the best derivation, (B,)."""
        return self._returned(self._score(self._sentences.best))

    @property
    def log_partition(self) -> torch.Tensor:
        """The logarithm of the sum of exp(score) over all derivations, (B,)."""
        return self._returned(self._log_partition())

    @property
    def marginals(self) -> torch.Tensor:
        """The probability of each arc, (B, N+1, N+1) by sentence, head and dependent; 0 in the padding."""
        return self._returned(self._expected()[0])

    @property
    def entropy(self) -> torch.Tensor:
        """The entropy of the distribution over derivations, in nats, (B,)."""
        return self._returned(self._cross_entropy(self))

    def log_prob(self, heads: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of the probability of a tree of each sentence, or of all trees with some heads, (..., B).

        heads: the head of each word, integers (..., B, N+1), such as samples; -1 stands for any head, -2 for any but
        the root. Numbers at 0 and in the padding are ignored.

        The result is -inf for trees outside the decoder's class, with gradients of 0. Raises ValueError for heads that
        are not nodes.
        """
        require_tensor("heads", heads)
        if heads.dim() > 2:
            each = [self.log_prob(trees) for trees in heads.flatten(end_dim=-3)]
            found = torch.stack(each) if each else self._returned(torch.empty(0, device="cpu"))
            return found.reshape(*heads.shape[:-2], *self.batch_shape)
        given = self._heads(heads)
        sentences = Sentences(self.name, self.scores, self._sentences.lengths, heads=given, **self._sentences.options)
        everything, with_arcs = self._log_partition(), self._summed(sentences)
        return self._returned(torch.where(with_arcs > -torch.inf, with_arcs - everything, -torch.inf))

    def sample(self, sample_shape: Sequence[int] = (), generator: torch.Generator | None = None) -> torch.Tensor:
        """Return independent samples: the trees of random derivations, long ``(*sample_shape, B, N+1)``, -1 as in `argmax`.

        sample_shape: how many for each sentence, as in PyTorch's own distributions; by default, one.
        generator: by default, PyTorch's own. After `torch.manual_seed`, the samples are the same, with any number of
        threads.

        The probability of a tree is the sum over its derivations, so ``log_prob`` is the logarithm of its expected
        frequency. Sampling is exact; it has no gradient. Raises ValueError for mh5 and 1ec, which have no sampling.
        """
        size = torch.Size(sample_shape)
        source = "cpu" if generator is None else generator.device
        seed = int(torch.randint(2**63 - 1, (), generator=generator, device=source))
        heads = torch.from_numpy(self._sentences.sample(size.numel(), seed)).transpose(0, 1)
        return heads.reshape(*size, *heads.shape[1:]).to(dtype=torch.long, device=self._device)

    def cross_entropy(self, other: TreeDistribution) -> torch.Tensor:
        """Return the cross-entropy of another distribution relative to this one, -sum p log q over derivations, in nats, (B,).

        other: a distribution of the same decoder, with the same score tensors, lengths and single_root. Raises
        ValueError if these differ. The result is inf if `other` forbids derivations that this distribution allows.
        """
        return self._returned(self._cross_entropy(other))

    def kl(self, other: TreeDistribution) -> torch.Tensor:
        """Return the Kullback-Leibler divergence from another distribution to this one, sum p log(p / q), in nats, (B,).

        other: as for `cross_entropy`.
        """
        return self._returned(self._cross_entropy(other) - self._cross_entropy(self))

    def structured_hinge(self, heads: torch.Tensor, cost: torch.Tensor | None = None) -> torch.Tensor:
        """Return the structured hinge loss, (B,): the best score + cost over all derivations, minus the tree's best score.

        heads: the tree of each sentence, integers (B, N+1); numbers at 0 and in the padding are ignored. -1 at a word
            leaves its head open: the second maximum is over all trees with the other heads.
        cost: the cost of each arc, (B, N+1, N+1) by sentence, head and dependent; by default 1 for every wrong head,
            and 0 at a word whose head is open.

        This takes two searches for the best derivation, in float32. Raises ValueError, with the number of the sentence,
        if no tree has the heads, and NotInClass if no tree of the decoder's class has them.
        """
        gold = self._heads(heads)
        if cost is None:
            nodes = np.arange(gold.shape[1])
            costs = torch.from_numpy(((gold[:, None, :] != nodes[:, None]) & (gold[:, None, :] >= 0)).astype(np.float32))
        else:
            require_tensor("cost", cost)
            costs = on_processor(cost)
        right = self._sentences.decode(heads=gold)
        wrong = self._sentences.decode(cost=array(costs))
        of, words = np.nonzero(wrong.heads >= 0)
        paid = torch.zeros(len(gold), dtype=torch.float64, device="cpu")
        paid = paid.index_add(0, torch.from_numpy(of), costs[of, wrong.heads[of, words], words].double())
        return self._returned(self._score(wrong) + paid - self._score(right))

    def _tensors(self) -> dict[str, torch.Tensor]:
        """Return the scores on the processor."""
        return {tensor: on_processor(numbers) for tensor, numbers in self.scores.items()}

    def _returned(self, result: torch.Tensor) -> torch.Tensor:
        return result.to(self._dtype).to(self._device)

    def _heads(self, heads: torch.Tensor) -> np.ndarray:
        """Return integers (B, N+1), the head of each word, -1 or -2, and -1 at 0 and in the padding. Raises ValueError."""
        require_tensor("heads", heads)
        lengths = self._sentences.lengths
        shape = (len(lengths), self._sentences.longest + 1)
        if not has_integers(heads) or heads.shape != shape:
            raise ValueError(
                "heads: expected integers of shape %s, got %s of shape %s" % (shape, heads.dtype, tuple(heads.shape))
            )
        nodes = np.arange(shape[1])
        words = (nodes > 0) & (nodes <= lengths[:, None])
        given = np.where(words, array(heads).astype(np.int64), -1)
        wrong = words & ((given < -2) | (given > lengths[:, None]))
        for b, word in np.argwhere(wrong)[:1]:
            raise ValueError(
                "sentence %d: heads: the head of word %d is %d, but must be -2 to %d" % (b, word, given[b, word], lengths[b])
            )
        return given

    def _score(self, found: batch.Derivations) -> torch.Tensor:
        """Return the summed scores of the parts of derivations, float64 (B,)."""
        total = torch.zeros(len(found.lengths), dtype=torch.float64, device="cpu")
        for tensor, numbers in self._tensors().items():
            rows = torch.from_numpy(found.parts[tensor])
            total = total.index_add(0, rows[:, 0], numbers[tuple(rows.T)].double())
        return total

    def _summed(self, of: Sentences) -> torch.Tensor:
        tensors = self._tensors().values()
        differentiated = torch.is_grad_enabled() and any(numbers.requires_grad for numbers in tensors)
        return LogPartition.apply(of, differentiated, *tensors)

    def _log_partition(self) -> torch.Tensor:
        total = self._summed(self._sentences)
        self._sentences.require_derivations()
        return total

    def _expected(self) -> tuple[torch.Tensor, ...]:
        expected = ExpectedCounts.apply(self._sentences, *self._tensors().values())
        self._sentences.require_derivations()
        return expected

    def _cross_entropy(self, other: TreeDistribution) -> torch.Tensor:
        """Return the cross-entropy in float64; for this distribution itself, its entropy."""
        if not isinstance(other, TreeDistribution):
            raise ValueError("other: expected a TreeDistribution, got %s" % type(other).__name__)
        ours, theirs = self._sentences, other._sentences
        alike = self.name == other.name and ours.options["single_root"] == theirs.options["single_root"]
        shapes, their_shapes = ({name: numbers.shape for name, numbers in each.scores.items()} for each in (self, other))
        if not alike or shapes != their_shapes or not np.array_equal(ours.lengths, theirs.lengths):
            raise ValueError("the distributions differ in their decoder, single_root, lengths, score tensors or their dimensions")
        _, *expected = self._expected()
        total, tensors = other._log_partition(), other._tensors()
        for counts, tensor in zip(expected, self.scores, strict=True):
            numbers = tensors[tensor]
            usable = numbers.abs() < LARGEST  # not forbidden, nor NaN or infinity in the padding
            total = total - (counts * torch.where(usable, numbers, 0).double()).flatten(1).sum(1)
            impossible = ((counts > 0) & ~usable).flatten(1).any(1)
            total = torch.where(impossible, torch.inf, total)
        return total
