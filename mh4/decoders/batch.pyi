from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mh4.decoders.derivation import BatchMarginals as BatchMarginals
from mh4.decoders.derivation import Derivations as Derivations

DecoderName = Literal["mh3", "mh4", "mh5", "mst", "1ec"]

class Shape(NamedTuple):
    layers: tuple[int, ...]
    rows: int
    columns: int
    optional: bool = ...
    def of(self, words: int) -> tuple[int, ...]: ...
    def text(self) -> str: ...

class Decoder(NamedTuple):
    decode: Callable[..., Any]
    marginals: Callable[..., Any] | None
    sample: Callable[..., Any] | None
    tensors: dict[str, Shape]
    charts: type

COST: Shape
DECODERS: dict[DecoderName, Decoder]

def decoder(name: str) -> Decoder: ...
def checked(
    name: str, scores: Mapping[str, ArrayLike], lengths: ArrayLike, cost: ArrayLike | None = ..., argument: str = ...
) -> tuple[dict[str, np.ndarray], np.ndarray, int]: ...
def checked_trees(heads: ArrayLike, lengths: np.ndarray, longest: int) -> np.ndarray: ...
def single(name: str, arrays: Mapping[str, np.ndarray], b: int, words: int, heads: np.ndarray | None = ...) -> dict[str, Any]: ...
def marginals(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
    allow_none: bool = ...,
    threads: int | None = ...,
) -> BatchMarginals: ...
def log_partition(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
    allow_none: bool = ...,
    threads: int | None = ...,
) -> np.ndarray: ...
def hessian_product(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    direction: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
    threads: int | None = ...,
) -> dict[str, np.ndarray]: ...
def sample(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    samples: int,
    *,
    rng: int | np.random.Generator | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
    threads: int | None = ...,
) -> np.ndarray: ...
def decode(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    cost: np.ndarray | None = ...,
    heads: np.ndarray | None = ...,
    single_root: bool = ...,
    threads: int | None = ...,
) -> Derivations: ...
