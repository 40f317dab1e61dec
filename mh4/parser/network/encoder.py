"""From words to context-sensitive vectors (Section 4.1 and the supplement): a character bi-LSTM below a sentence bi-LSTM."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress

import numpy as np

from mh4.data.sentence import Sentence
from mh4.parser.config import Config
from mh4.parser.contextual_vectors import Contextual
from mh4.parser.network.graph import dy
from mh4.parser.network.layers import Columns, Linear
from mh4.parser.network.lstm import BiLSTM
from mh4.parser.vectors import Vectors
from mh4.parser.vocabulary import UNKNOWN, Vocabulary, normalised

# Rows of the word table: the two nodes that are not words, then the words (numbered from 1 in the vocabulary).
_ROOT, _END, _BEFORE_WORDS = 0, 1, 1
_REMEMBERED = 1 << 16  # size of the cache of word lookups
_SPELLED = 1000  # characters of a word that are read; a longer one is hardly a word, and would take minutes

Layers = tuple["dy.Expression", "dy.Expression"]


class Encoder:
    """Vectors of the root, the n words and the end of every sentence of a minibatch.

    The input for a word is its spelling, tanh of a linear map of the two final states of its character bi-LSTM. Frequent words also
    have an embedding, which is added; in training it is sometimes dropped, as if the word were rare. Vectors trained elsewhere are
    added by a linear map.
    """

    initial = dy.GlorotInitializer()  # of embeddings
    after: Sequence[int] = (_END,)  # the nodes that the bi-LSTM reads after the words

    def __init__(
        self, config: Config, vocabulary: Vocabulary, vectors: Vectors | None, parameters: "dy.ParameterCollection"
    ) -> None:
        sizes = config.encoder
        self.dropout = config.dropout
        self.sizes = sizes
        self.chars = vocabulary.chars
        self.char_embeddings = parameters.add_lookup_parameters((len(self.chars), sizes.char_dim), init=self.initial)
        self.char_lstm = BiLSTM(sizes.char_layers, sizes.char_dim, sizes.char_units, parameters)
        self.char_map = Linear(sizes.char_units, sizes.word_dim, parameters)
        words = len(vocabulary.words) + _BEFORE_WORDS
        self.word_embeddings = parameters.add_lookup_parameters((words, sizes.word_dim), init=self.initial)
        self.lstm = BiLSTM(sizes.layers, sizes.word_dim, sizes.units, parameters)
        self.vectors, self._tuned = vectors, 0
        if vectors:
            self.vector_map = parameters.add_parameters((sizes.word_dim, vectors.dimensions))
            self._vector_row = lru_cache(_REMEMBERED)(vectors.row)
            if sizes.vectors == "tuned":
                self._tuned = vectors.learned
                self.tuned_vectors = parameters.add_lookup_parameters((self._tuned, vectors.dimensions))
                if self.tuned_vectors is not None:  # it is None where parameters are only counted
                    self.tuned_vectors.init_from_array(vectors.matrix[1 : self._tuned + 1])

        self.contextual: Contextual | None = None  # the files of contextual vectors, if the network uses such vectors
        if sizes.contextual:
            self.contextual_map = parameters.add_parameters((sizes.word_dim, sizes.contextual))

        # Results are cached, as most words recur.
        self._number = lru_cache(_REMEMBERED)(lambda word: vocabulary.words[normalised(word)])
        self._spelling = lru_cache(_REMEMBERED)(lambda word: self.chars.numbers(self._characters(word)))
        self._words_kept = _keep_probabilities(vocabulary.words.counts, self.dropout.word_embedding)
        self._chars_kept = _keep_probabilities(self.chars.counts, self.dropout.char)

    def __call__(self, sentences: Sequence[Sentence], rng: "np.random.Generator | None" = None) -> Layers:
        """Return the vectors of all nodes side by side, n+2 for n words (see `node_columns`): (units, N), for tags and for trees.

        With `rng`, words, characters and recurrent connections are dropped as in training.
        """
        ends = _lookup(self.word_embeddings, [_ROOT, _END], self.sizes.word_dim)
        vectors = dy.concatenate_cols([ends, self._words(sentences, rng)])
        order, start = [], 2
        for sentence in sentences:
            order += [_ROOT, *range(start, start + len(sentence)), *self.after]
            start += len(sentence)
        inputs = dy.select_cols(vectors, order)
        lengths = [len(sentence) + 1 + len(self.after) for sentence in sentences]
        layers = self.lstm(inputs, lengths, 0.0 if rng is None else self.dropout.lstm)
        return layers[0], layers[-1]

    def _words(self, sentences: Sequence[Sentence], rng: "np.random.Generator | None") -> "dy.Expression":
        """Return (word_dim, number of words): each word's spelling, embedding, or both, and vectors from files; zeros if dropped."""
        words = [word for sentence in sentences for word in sentence.words]
        known = np.array([self._number(word) for word in words])
        dropped = np.zeros(len(words), dtype=bool)
        if rng is not None:
            known[rng.random(len(words)) >= self._words_kept[known]] = UNKNOWN
            dropped = rng.random(len(words)) < self.dropout.word
            known[dropped] = UNKNOWN
        embedded = known != UNKNOWN
        spelled = self._spelled(dropped, embedded)
        to_spell, columns = list(compress(words, spelled)), _numbered(spelled)
        if rng is None:  # without dropout, all tokens of a word have the same vector
            numbers = {word: k for k, word in enumerate(dict.fromkeys(to_spell), start=1)}
            columns[spelled] = [numbers[word] for word in to_spell]
            to_spell = list(numbers)
        vectors = dy.zeros((self.sizes.word_dim, len(words)))
        if to_spell:
            vectors = columns_of(self._spell(to_spell, rng), columns)
        if embedded.any():
            embeddings = _lookup(self.word_embeddings, (known[embedded] + _BEFORE_WORDS).tolist(), self.sizes.word_dim)
            vectors = vectors + columns_of(embeddings, _numbered(embedded))
        if self.vectors:
            vectors = vectors + self.vector_map * self._given(self.vectors, words, dropped)
        if self.sizes.contextual:
            assert self.contextual  # checked before parsing or training
            in_context = np.concatenate([self.contextual.of(sentence) for sentence in sentences])
            vectors = vectors + self.contextual_map * dy.inputTensor(np.where(dropped, 0, in_context.T))
        return vectors

    def _spelled(self, dropped: np.ndarray, embedded: np.ndarray) -> np.ndarray:
        """Return which words are spelled, given those that are dropped and those that have an embedding."""
        return ~dropped

    def _characters(self, word: str) -> Sequence[str]:
        """Return the input of the character bi-LSTM for a word."""
        return word[:_SPELLED]

    def _given(self, vectors: Vectors, words: Sequence[str], dropped: np.ndarray) -> "dy.Expression":
        """Return (dimensions, number of words): each word's vector from the file; zeros for a word without one or a dropped word."""
        rows = np.where(dropped, 0, [self._vector_row(word) for word in words])
        tuned = (rows > 0) & (rows <= self._tuned)
        given = dy.inputTensor(vectors.matrix[np.where(tuned, 0, rows)].T)
        if not tuned.any():
            return given
        learned = _lookup(self.tuned_vectors, (rows[tuned] - 1).tolist(), vectors.dimensions)
        return given + columns_of(learned, _numbered(tuned))

    def _spell(self, words: Sequence[str], rng: "np.random.Generator | None") -> "dy.Expression":
        """Return (word_dim, number of words): a vector for each word, from its characters."""
        spellings = [self._spelling(word) for word in words]
        chars = np.concatenate(spellings)
        if rng is not None:
            chars[rng.random(len(chars)) >= self._chars_kept[chars]] = UNKNOWN
        lengths = [len(spelling) for spelling in spellings]
        vectors = _lookup(self.char_embeddings, chars.tolist(), self.sizes.char_dim)
        states = self.char_lstm(vectors, lengths, 0.0 if rng is None else self.dropout.char_lstm)[-1]
        # Each direction has read the whole word at its end: one at the last character, the other at the first.
        half, units = self.sizes.char_units // 2, self.sizes.char_units
        stops = np.cumsum(lengths)
        ahead = dy.pick_range(dy.select_cols(states, (stops - 1).tolist()), 0, half, 0)
        behind = dy.pick_range(dy.select_cols(states, (stops - lengths).tolist()), half, units, 0)
        return dy.tanh(self.char_map(dy.concatenate([ahead, behind])))


def node_columns(sentences: Sequence[Sentence]) -> list[Columns]:
    """Return the columns [start, stop) of each sentence's nodes in the output of Encoder."""
    stops = np.cumsum([len(sentence) + 2 for sentence in sentences]).tolist()
    return list(zip([0] + stops[:-1], stops, strict=True))


def columns_of(vectors: "dy.Expression", numbers: np.ndarray) -> "dy.Expression":
    """Return the columns of `vectors` with these numbers, counted from 1; zeros for 0."""
    (dim, _), _ = vectors.dim()
    return dy.select_cols(dy.concatenate_cols([dy.zeros((dim, 1)), vectors]), numbers.tolist())


def _numbered(chosen: np.ndarray) -> np.ndarray:
    """Return the numbers, from 1, of the chosen columns among themselves; 0 for the others."""
    return np.where(chosen, chosen.cumsum(), 0)


def _lookup(table: "dy.LookupParameters", rows: Sequence[int], dim: int) -> "dy.Expression":
    return dy.reshape(dy.lookup_batch(table, rows), (dim, len(rows)))


def _keep_probabilities(counts: Sequence[int], constant: float) -> np.ndarray:
    seen = np.asarray(counts, dtype=float)
    return np.divide(seen, seen + constant, out=np.zeros_like(seen), where=seen > 0)
