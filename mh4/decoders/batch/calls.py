"""Decoding, summing and sampling many sentences: checked arguments, the work of the threads, and errors that name the sentence."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from mh4.decoders.batch import arguments
from mh4.decoders.batch.arguments import DecoderName
from mh4.decoders.batch.decoding import KINDS
from mh4.decoders.batch.results import BatchMarginals, Derivations
from mh4.decoders.batch.summing import SAMPLING, SUMMING, Sampling, Summing
from mh4.decoders.batch.threads import run
from mh4.decoders.mh5.decoder import too_large
from mh4.decoders.shared.arguments import sample_size, seeds


def decode(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> Derivations:
    """The highest-scoring derivation of each of B sentences, in padded arrays with room for N words.

    name: of the decoder, "mh3", "mh4", "mh5", "mst" or "1ec".
    scores: for each of the decoder's score tensors, an array with a leading dimension B, and N in place of n; for
        example {"shift": (B, N+2, N+2), "reduce_s0b0": (B, 6, N+2, N+2)} for mh4. A sentence of n words has its scores, as for
        the decoder by itself, in the leading corner: its end is node n+1. Whatever is in the padding is not read.
        They are of any floating-point type, as for the decoder.
    lengths: n of each sentence, integers (B,).
    cost: (B, N+1, N+1), or None. heads: integers (B, N+1), or None; if given, only derivations of trees with these heads are considered,
        -1 leaving the head of a word open.
    single_root: exactly one dependent of node 0.
    threads: how many; by default as many as there are cores that this process may use. The results are those of the decoder for each
        sentence by itself, to the bit, with any number of threads.

    Sentences that mh5 has no room for (see mh5.decode) are decoded by mh4, with a RuntimeWarning.

    Returns Derivations. The GIL is released.
    Raises what the decoder raises, with the number of the sentence, and ValueError for an unknown decoder or tensor, wrong
    dimensions or types, lengths beyond the padding, and numbers of threads below 1.
    """
    tensors, lengths, longest = arguments.checked(name, scores, lengths, cost)
    trees = None if heads is None else arguments.checked_trees(heads, lengths, longest)
    kind, worker = KINDS[name]
    sentences = kind(tensors, lengths, longest, single_root, trees)
    run(worker, sentences, threads)
    result = sentences.result()
    arguments.explain(name, "decode", sentences.failed() | (result.scores == -np.inf), sentences, trees)
    for b in np.flatnonzero(sentences.needed):
        warnings.warn(f"sentence {b}: {too_large(lengths[b], sentences.needed[b])}", RuntimeWarning, stacklevel=2)
    return result


def marginals(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> BatchMarginals:
    """The distributions over the derivations of B sentences, in padded arrays with room for N words.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec"; mh5 has no marginals.
    scores, lengths, single_root, threads: as for `decode`; float64 scores are not rounded to float32.
    heads: integers (B, N+1), or None; if given, only derivations of trees with these heads count. The head of a word is open if it
        is -1. For a whole tree, whose derivations are few, this takes a fraction of the time.
    allow_none: of a sentence without derivations, log_partition is -inf and all else is 0; otherwise this is an error.

    Returns BatchMarginals. The GIL is released.
    Raises what the decoder's `marginals` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    _require_sums(name, "marginals")
    checked = arguments.checked(name, scores, lengths)
    return _summed(name, *checked, heads, threads, single_root, allow_none, True).result()


def log_partition(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> np.ndarray:
    """The logarithm of the sum of exp(score) over the derivations of each of B sentences, float64 (B,): that of `marginals`, alone.

    This is the inside pass without the outside pass, or the determinant without its derivatives. The arguments, and what is raised,
    are those of `marginals`.
    """
    _require_sums(name, "marginals")
    checked = arguments.checked(name, scores, lengths)
    return _summed(name, *checked, heads, threads, single_root, allow_none, False).log_partition


def hessian_product(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    direction: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> dict[str, np.ndarray]:
    """The derivative of the expected counts in a direction of the scores, for each of B sentences; without any approximation.

    This is the product of the Hessian matrix of log_partition and the direction, or the covariance of how often derivations use a
    score and what they score in the direction.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec". scores, lengths, heads, single_root, threads: as for `marginals`.
    direction: arrays like the scores, for each of their tensors and with the same B and N; it may have "arcs", of those that any
        transition makes, and "reduce_s1s0" when the scores do not.

    Returns, for each tensor of the direction, a float64 array of its shape: 0 beyond the sentence and for sentences without
    derivations, NaN for those with a direction that is not finite. The GIL is released.
    Raises what `marginals` raises.
    """
    _require_sums(name, "marginals that can be differentiated")
    scores, lengths, longest = arguments.checked(name, scores, lengths)
    direction, _, own_longest = arguments.checked(name, direction, lengths, argument="direction")
    if own_longest != longest:
        raise ValueError(f"direction: has room for {own_longest} words, but the scores for {longest}")
    tensors = {part: scores[part] if part in scores else np.zeros(array.shape) for part, array in direction.items()}
    for part in scores:
        if part not in direction:
            raise ValueError(f"direction: has no tensor {part!r}, but the scores have")
    unit = {part: np.zeros(array.shape) for part, array in direction.items()}
    sizes = np.zeros(len(lengths))
    for b, n in enumerate(lengths):
        of, to = arguments.single(name, direction, b, n), arguments.single(name, unit, b, n)
        sizes[b] = np.max([np.abs(array).max(initial=0) for array in of.values()])
        if 0 < sizes[b] < np.inf:
            for part, array in of.items():
                np.divide(array, sizes[b], out=to[part])
    result = _summed(name, tensors, lengths, longest, heads, threads, single_root, True, True, unit).result().parts
    for b, n in enumerate(lengths):
        for array in arguments.single(name, result, b, n).values():
            array *= sizes[b] if sizes[b] < np.inf else np.nan
    return result


def _require_sums(name: str, what: str) -> None:
    if arguments.decoder(name).marginals is None:
        raise ValueError(f"{name} has no {what}; {', '.join(SUMMING)} have")


def _summed(
    name: str,
    tensors: dict[str, np.ndarray],
    lengths: np.ndarray,
    longest: int,
    heads: np.ndarray | None,
    threads: int | None,
    *how: Any,
) -> Any:
    """Sentences whose derivations have been summed, of arguments that have been checked, except heads; how: as `Summing` takes it."""
    trees = None if heads is None else arguments.checked_trees(heads, lengths, longest)
    sentences = Summing(tensors, lengths, longest, trees, *how)
    run(SUMMING[name], sentences, threads)
    arguments.explain(name, "marginals", sentences.failed(), sentences, trees)
    return sentences


def sample(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    samples: int,
    *,
    rng: int | np.random.Generator | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> np.ndarray:
    """Trees of random derivations of each of B sentences, in padded arrays with room for N words.

    name: of the decoder: "mh3", "mh4" or "mst". Derivations are drawn with their probability, independently; a tree that has several
        is as probable as these together.
    scores, lengths, heads, single_root, threads: as for `marginals`.
    samples: how many for each sentence. rng: a seed or a numpy.random.Generator; by default, an unpredictable one. The results are those
        of the decoder's `sample` for one sentence after the other with the same generator, with any number of threads.

    Returns their heads, int32 (B, samples, N+1), -1 at 0 and beyond the sentence. The GIL is released.
    Raises what the decoder's `sample` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    if arguments.decoder(name).sample is None:
        raise ValueError(f"{name} has no sampling; {', '.join(SAMPLING)} have")
    tensors, lengths, longest = arguments.checked(name, scores, lengths)
    trees = None if heads is None else arguments.checked_trees(heads, lengths, longest)
    sentences = Sampling(tensors, lengths, longest, single_root, trees, sample_size(samples), seeds(rng, len(lengths)))
    run(SAMPLING[name], sentences, threads)
    arguments.explain(name, "sample", sentences.failed(), sentences, trees, samples=0)
    return sentences.heads
