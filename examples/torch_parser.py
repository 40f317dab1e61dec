"""A dependency parser in PyTorch on the exact decoders of mh4, to read and to change.

    python examples/torch_parser.py train --train TRAIN.conllu --dev DEV.conllu --model parser.pt
    python examples/torch_parser.py parse --model parser.pt FILE.conllu > parsed.conllu

The paper's parser: an encoder of words, deep biaffine scores of transitions or arcs, and an exact decoder, in training too. The encoder is
a bi-LSTM as large as in `mh4 train`, or a transformer. It needs PyTorch, and maybe transformers.
"""

import json
import time

import click
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim.swa_utils import AveragedModel
from transformer_encoder import Transformer

from mh4.analysis.attachment import attachment_scores
from mh4.cli.group import Commands
from mh4.data import conllu
from mh4.data.sentence import ROOT, Sentence
from mh4.parser.columns import annotated, best_strings, headed_by_root
from mh4.parser.config import Config, override, tables
from mh4.parser.systems import SYSTEMS, settings
from mh4.parser.vocabulary import UNKNOWN, Vocabulary, normalised
from mh4.torch import Scores, TreeDistribution
from mh4.util.batching import batches, shuffled_minibatches
from mh4.util.files import atomic_path

WEIGHTS = {"upos": 0.2, "xpos": 0.2, "feats": 0.2, "deprels": 1.0}  # weights of the losses of columns other than heads


class BiLSTM(nn.Module):
    """Bi-LSTM layers over padded sequences (B, T, inputs). Dropout drops the same inputs at all steps of a sequence."""

    def __init__(self, layers: int, inputs: int, units: int, rate: float) -> None:
        super().__init__()
        self.rate, sizes = rate, [inputs] + [units] * (layers - 1)
        self.layers = nn.ModuleList(nn.ModuleList(nn.LSTM(i, units // 2, batch_first=True) for _ in range(2)) for i in sizes)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows, steps = torch.arange(vectors.shape[0])[:, None], torch.arange(vectors.shape[1])
        turned = (lengths[:, None] - 1 - steps) % len(steps)  # reverses each sequence; applied twice, restores it
        for ahead, behind in self.layers:
            vectors = vectors * nn.functional.dropout(torch.ones(len(rows), 1, vectors.shape[2]), self.rate, self.training)
            vectors = torch.cat([ahead(vectors)[0], behind(vectors[rows, turned])[0][rows, turned]], dim=2)
        return vectors


class Recurrent(nn.Module):
    """Vectors (B, N+2, units) of the root, the words and the end of each sentence, from the words and their characters."""

    def __init__(self, config: Config, vocabulary: Vocabulary) -> None:
        super().__init__()
        sizes, self.rates, self.vocabulary, self.units = config.encoder, config.dropout, vocabulary, config.encoder.units
        self.chars = nn.Embedding(len(vocabulary.chars), sizes.char_dim)
        self.char_lstm = BiLSTM(sizes.char_layers, sizes.char_dim, sizes.char_units, self.rates.char_lstm)
        self.spelling = nn.Linear(sizes.char_units, sizes.word_dim)
        self.words = nn.Embedding(len(vocabulary.words), sizes.word_dim, padding_idx=UNKNOWN)  # frequent ones
        self.ends = nn.Embedding(2, sizes.word_dim)
        self.lstm = BiLSTM(sizes.layers, sizes.word_dim, sizes.units, self.rates.lstm)

    def forward(self, sentences: list[list[str]]) -> torch.Tensor:
        words = [word for sentence in sentences for word in sentence]
        known = self.known(self.vocabulary.words, map(normalised, words), self.rates.word_embedding)
        distinct, of_words = np.unique(words, return_inverse=True)
        chars = [self.chars(self.known(self.vocabulary.chars, word, self.rates.char)) for word in distinct.tolist()]
        lengths = torch.tensor([len(word) for word in chars])
        ahead, behind = self.char_lstm(pad_sequence(chars, batch_first=True), lengths).chunk(2, dim=2)
        # The states of both directions after the whole word
        ends = torch.cat([ahead[torch.arange(len(chars)), lengths - 1], behind[:, 0]], dim=1)
        vectors = torch.tanh(self.spelling(ends))[of_words] + self.words(known)
        if self.training:
            vectors = vectors * (torch.rand(len(words), 1) >= self.rates.word)
        root, end = self.ends.weight.split(1)
        lengths = torch.tensor([len(sentence) for sentence in sentences])
        rows = [torch.cat([root, of_sentence, end]) for of_sentence in vectors.split(lengths.tolist())]
        return self.lstm(pad_sequence(rows, batch_first=True), lengths + 2)

    def known(self, table, strings, constant: float) -> torch.Tensor:
        """Return the numbers of strings.

        In training, a string seen c times is unknown with probability constant / (c + constant).
        """
        numbers = table.numbers(strings)
        if self.training:
            seen = np.array(table.counts)[numbers]
            numbers[np.random.random(len(numbers)) * (seen + constant) >= seen] = UNKNOWN
        return torch.from_numpy(numbers)


class Parser(nn.Module):
    """An encoder, scores of trees, and classifiers of words (tags) and arcs (labels).

    config: TOML. vocabulary: JSON.
    """

    def __init__(self, system: str, config: str, vocabulary: str, transformer: str | None) -> None:
        super().__init__()
        self.arguments, self.decoder = (system, config, vocabulary, transformer), system.partition("-")[0]
        sizes, known = override(Config(), tables(config, "config"), "config"), Vocabulary.from_tables(json.loads(vocabulary))
        self.encoder = Transformer(transformer) if transformer else Recurrent(sizes, known)
        units, mlp_units, rate = self.encoder.units, sizes.scorer.mlp_units, sizes.dropout.mlp
        self.scores = Scores(self.decoder, units, mlp_units, rate, nodes="all")
        self.tables = {column: getattr(known, "labels" if column == "deprels" else column) for column in WEIGHTS}
        self.labels_roots = sizes.scorer.root_label and bool(known.labels[ROOT])
        self.classifiers = nn.ModuleDict()
        for column, table in self.tables.items():
            first = nn.Linear(2 * units if column == "deprels" else units, mlp_units)
            self.classifiers[column] = nn.Sequential(first, nn.Tanh(), nn.Dropout(rate), nn.Linear(mlp_units, len(table)))

    def forward(self, sentences) -> tuple[torch.Tensor, TreeDistribution]:
        hidden, lengths = self.encoder([each.words for each in sentences]), torch.tensor([len(each) for each in sentences])
        return hidden, TreeDistribution(self.decoder, self.scores(hidden, lengths), lengths)

    def classify(self, column: str, hidden: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """Return scores (words, classes) of tags, or of labels of the arcs of trees, one sentence after another."""
        b, word = (heads >= 0).nonzero(as_tuple=True)
        nodes = [heads[b, word], word] if column == "deprels" else [word]
        return self.classifiers[column](torch.cat([hidden[b, node] for node in nodes], dim=1))

    def loss(self, sentences, targets, likelihood: bool) -> torch.Tensor:
        """Return the sum of the sentences' losses, with margins for tags and labels.

        targets: their trees or, if these cannot be decoded, the nearest ones that can.
        """
        hidden, trees = self(sentences)
        heads = [torch.from_numpy(tree).long() for tree in [*targets, *(each.heads for each in sentences)]]
        target, gold = pad_sequence(heads, batch_first=True, padding_value=-1).chunk(2)  # (B, N+1) each
        loss = -trees.log_prob(target).sum() if likelihood else trees.structured_hinge(target).sum()
        for column, weight in WEIGHTS.items():
            numbers = self.tables[column].numbers(string for each in sentences for string in getattr(each, column))
            scores = self.classify(column, hidden, gold)
            right = nn.functional.one_hot(torch.from_numpy(numbers).long(), scores.shape[1])
            loss = loss + weight * ((scores + 1 - right).amax(dim=1) - (scores * right).sum(dim=1)).sum()
        return loss

    @torch.no_grad()
    def parse(self, sentences) -> list[Sentence]:
        """Return the sentences with their best trees and labels. Only the root's dependents are labelled `root`."""
        self.eval()
        parsed = []
        for batch in batches(sentences, len, 1000):
            hidden, trees = self(batch)
            scores = self.classify("deprels", hidden, trees.argmax).T.numpy()
            heads = [tree[: len(each) + 1].int().numpy() for tree, each in zip(trees.argmax, batch, strict=True)]
            labels = best_strings(scores, self.tables["deprels"], headed_by_root(heads) if self.labels_roots else None)
            parsed += annotated(batch, heads, {"deprels": labels})
        return parsed


@click.group(cls=Commands, help=__doc__)
def main() -> None:
    torch.set_num_threads(1)  # the products are small


@main.command()
@click.option("--system", type=click.Choice(["mh4-hybrid", "mh3", "mst", "1ec"]), default="mh4-hybrid")
@click.option("--likelihood", is_flag=True, help="Train on the likelihood of trees rather than with a large margin.")
@click.option("--transformer", metavar="FOLDER", help="Encode with this model of the transformers library.")
@click.option("--config", multiple=True, metavar="FILE", help="Settings, as for mh4 train.")
@click.option("--seed", default=1)
@click.option("--train", required=True)
@click.option("--dev", required=True)
@click.option("--model", required=True)
def train(system, likelihood, transformer, config, seed, train, dev, model) -> None:
    """Train until the UAS on dev stops rising, and keep the best average of weights over many updates."""
    config, train, dev = settings(config, system), conllu.read(train), conllu.read(dev)
    sizes, rng, share = config.training, np.random.default_rng(seed), 1 / config.training.averaged_updates
    torch.manual_seed(seed)
    np.random.seed(seed)
    parser = Parser(system, config.to_toml(), Vocabulary.of(train, config).to_json(), transformer)
    average = AveragedModel(parser, avg_fn=lambda old, new, count: old.lerp(new, max(1 / (count + 1), share)))
    targets = [SYSTEMS[system].training_tree(sentence.heads, single_root=True) for sentence in train]
    pretrained = list(parser.encoder.parameters()) if transformer else []
    others = list(parser.parameters())[len(pretrained) :]  # those of the encoder come first
    optimizer = torch.optim.Adam([{"params": pretrained, "lr": 2e-5}, {"params": others}], sizes.learning_rate, fused=True)
    updates, stale, best, words, start = 0, 0, -1.0, 0, time.process_time()
    while stale < sizes.patience and updates < sizes.max_updates:
        for minibatch in shuffled_minibatches([len(sentence) for sentence in train], sizes.batch_tokens, rng):
            loss = parser.train().loss([train[k] for k in minibatch], [targets[k] for k in minibatch], likelihood)
            optimizer.zero_grad()
            (loss / sizes.loss_scale).backward()
            nn.utils.clip_grad_norm_(parser.parameters(), sizes.clip)
            optimizer.step()
            updates, words = updates + 1, words + sum(len(train[k]) for k in minibatch)
            average.update_parameters(parser)
            if updates % sizes.evaluate_updates == 0:
                speed, scores = words / (time.process_time() - start), attachment_scores(dev, average.module.parse(dev))
                print(updates, "updates: UAS %(uas).2f, LAS %(las).2f," % scores, "%.0f tokens/s" % speed, flush=True)
                stale, best = (0, scores["uas"]) if scores["uas"] > best else (stale + 1, best)
                if not stale:
                    with atomic_path(model) as temporary:
                        torch.save((parser.arguments, average.module.state_dict()), temporary)
                words, start = 0, time.process_time()


@main.command()
@click.option("--model", required=True)
@click.argument("file")
def parse(model, file) -> None:
    """Print a CoNLL-U file with predicted heads and labels."""
    arguments, weights = torch.load(model, weights_only=True)
    parser, blocks = Parser(*arguments), list(conllu.blocks(file, trees=False))
    parser.load_state_dict(weights)
    for block, sentence in zip(blocks, parser.parse([block.sentence for block in blocks]), strict=True):
        click.echo(block.text(block.parsed_columns(sentence), ""), nl=False)


if __name__ == "__main__":
    main()
