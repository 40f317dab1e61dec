"""The toy treebank and a small network, for the tests of model, training and command line."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from mh4.data import conllu
from mh4.data import toy as generator
from mh4.data.block import Block
from mh4.parser import config
from mh4.parser.config import Config
from mh4.util.progress import Listener

ROOT = Path(__file__).resolve().parent.parent

# Small and without dropout, so that a network memorises 30 sentences in seconds.
SMALL = config.with_settings(
    Config(),
    [
        "encoder.char_dim=16",
        "encoder.char_units=32",
        "encoder.word_dim=32",
        "encoder.word_min_count=2",
        "encoder.units=64",
        "scorer.mlp_units=48",
        "dropout.char_lstm=0",
        "dropout.lstm=0",
        "dropout.mlp=0",
        "dropout.word=0",
        "dropout.word_embedding=0",
        "dropout.char=0",
        "training.learning_rate=0.005",
        "training.averaged_updates=10",
    ],
)


def small(*assignments):
    """Return SMALL, changed by assignments such as "training.max_updates=20"."""
    return config.with_settings(SMALL, assignments)


def sentences(folder, split="train"):
    """Return the sentences of the toy treebank, which is written into `folder` first if needed."""
    path = Path(folder) / ("toy-ud-%s.conllu" % split)
    if not path.exists():
        generator.write(str(folder))
    return conllu.read(str(path))


def beginning(path, count):
    """Return the text of the first sentences of a CoNLL-U file."""
    return "".join(block + "\n\n" for block in Path(path).read_text(encoding="utf-8").split("\n\n")[:count])


def write_conllu(path, sentences):
    Path(path).write_text("".join(sentence.to_conllu() for sentence in sentences), encoding="utf-8")


def scores(system, n, rng):
    """Return random scores of a sentence of n words for every tensor of a system."""
    found = {}
    for tensor in system.tensors:
        sides = tuple(n + 1 + end for end in tensor.sentinel)
        shape = sides if tensor.matrices is None else (tensor.matrices, *sides)
        found[tensor.name] = rng.normal(size=shape).astype(np.float32)
    return found


def tensors(model, sentences):
    """Return the score tensors of each sentence, by name."""
    with model.lock:
        found = {k: one for batch, scores in model.score(sentences) for k, one in zip(batch, scores.trees.arrays())}
    return [found[k] for k in range(len(sentences))]


def partly(sentence, rng, share=0.5):
    """Return the sentence with about this share of its words without head and label."""
    is_open = rng.random(len(sentence)) < share
    heads = np.where(np.append(False, is_open), -1, sentence.heads).astype(np.int32)
    return replace(sentence, heads=heads, deprels=["" if o else label for o, label in zip(is_open, sentence.deprels)])


def untrained(system, sentences, folder=None, settings=SMALL):
    """Return a model with random weights, saved in `folder`, if given."""
    from mh4.parser.model import Model
    from mh4.parser.vocabulary import Vocabulary

    model = Model(system, settings, Vocabulary.of(sentences, settings), 1)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        model.save(str(folder))
    return model


def probabilities_of_labels(parser, sentences):
    """Return the probabilities of the labels of these sentences given their heads: float64 (words,)."""
    from mh4.annotating.review import review

    found = review(parser, [("", 0, Block([], sentence)) for sentence in sentences])
    return np.concatenate([one.deprels[1:] for one in found])


class Cut(Listener):
    """Interrupt training after some evaluations or updates, as a signal would."""

    def __init__(self, evaluations=10**9, updates=10**9):
        self.evaluations, self.updates, self.metrics = evaluations, updates, []

    def update(self, words, loss):
        self.updates -= 1
        if not self.updates:
            raise KeyboardInterrupt

    def evaluation(self, metrics):
        self.metrics.append(metrics)
        if len(self.metrics) == self.evaluations:
            raise KeyboardInterrupt
