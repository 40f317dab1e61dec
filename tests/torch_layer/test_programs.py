"""The examples and the benchmark that need PyTorch run."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import toy

from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.parser.contextual_vectors import Contextual
from mh4.trees import in_class

pytest.importorskip("torch", reason="PyTorch is not installed: `make torch-test` runs these tests")

SMALL = """
[encoder]
char_dim = 16
char_layers = 1
char_units = 32
word_dim = 32
word_min_count = 2
layers = 1
units = 64
[scorer]
mlp_units = 32
[training]
learning_rate = 0.01
averaged_updates = 20
batch_tokens = 300
evaluate_updates = 20
max_updates = %d
"""
# Sentences unlike those of training: an unknown character, long words, a multiword token.
ROW = "%s\t%s" + 8 * "\t_" + "\n"
STRANGE = "".join([ROW % (1, "☃"), "\n", ROW % ("1-2", "ab"), ROW % (1, "a"), ROW % (2, "b" * 50), ROW % (3, "c" * 99), "\n"])


def run(*command, failing=False):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run([sys.executable, *map(str, command)], stdout=-1, stderr=-1, env=environment)
    assert (done.returncode != 0) == failing, done.stdout.decode() + done.stderr.decode()
    return done.stderr.decode() if failing else done.stdout.decode()


class Example:
    def __init__(self, treebank, folder):
        self.train, self.dev, self.test = (treebank / ("toy-ud-%s.conllu" % split) for split in ("train", "dev", "test"))
        self.model, self.folder = folder / "parser.pt", folder

    def trained(self, *options, updates=60):
        """Train, and return the UAS on dev of each evaluation."""
        config = self.folder / "small.toml"
        config.write_text(SMALL % updates)
        files = ["--train", self.train, "--dev", self.dev, "--model", self.model, "--config", config]
        printed = run(toy.ROOT / "examples" / "torch_parser.py", "train", *files, *options)
        line = re.compile(r"\d+ updates: UAS ([\d.]+), LAS [\d.]+, \d+ tokens/s")
        return [float(line.fullmatch(each)[1]) for each in printed.splitlines()]

    def parsed(self, path):
        """Return the sentences of a file parsed by the model; check that only heads, labels and DEPS have changed."""
        text = run(toy.ROOT / "examples" / "torch_parser.py", "parse", "--model", self.model, path)
        (self.folder / "parsed.conllu").write_text(text)
        kept = [line for line in path.read_text().splitlines() if not re.match(r"\d+\.", line)]  # all but empty nodes
        pairs = zip(text.splitlines(), kept, strict=True)
        assert all([*a.split("\t")[:6], *a.split("\t")[9:]] == [*b.split("\t")[:6], *b.split("\t")[9:]] for a, b in pairs)
        return conllu.read(str(self.folder / "parsed.conllu"))


@pytest.fixture
def example(treebank, tmp_path):
    return Example(treebank, tmp_path)


@pytest.mark.parametrize(
    "options, of_class",
    [(["--system", "mh4-hybrid"], "mh4"), (["--system", "1ec"], "1ec"), (["--system", "mst", "--likelihood"], "any")],
    ids=["mh4-hybrid", "1ec", "mst on likelihood"],
)
def test_the_example_learns_and_parses(example, options, of_class):
    scores = example.trained(*options)
    assert max(scores) > 80, scores
    more = example.folder / "more.conllu"
    more.write_text(example.dev.read_text() + STRANGE)
    *parsed, snowman, long_words = example.parsed(more)
    assert attachment_scores(conllu.read(str(example.dev)), parsed)["uas"] == pytest.approx(max(scores), abs=0.006)
    assert snowman.heads.tolist() == [-1, 0] and len(long_words) == 3
    for sentence in parsed:
        assert in_class(sentence.heads, of_class) and np.count_nonzero(sentence.heads == 0) == 1
    assert {label for sentence in parsed for label in sentence.deprels} > {"root", "punct"}


def test_only_words_headed_by_the_root_are_labelled_root(example, monkeypatch):
    """This is so even with random weights, which would label any word `root`."""
    monkeypatch.syspath_prepend(toy.ROOT / "examples")
    from torch_parser import Parser, Vocabulary, settings

    config, sentences = settings([], "mst"), conllu.read(str(example.test))
    parser = Parser("mst", config.to_toml(), Vocabulary.of(sentences, config).to_json(), None)
    for sentence in parser.parse(sentences):
        assert [label == "root" for label in sentence.deprels] == (sentence.heads[1:] == 0).tolist()


def test_a_file_that_is_none(example):
    message = run(toy.ROOT / "examples" / "torch_parser.py", "train", "--train", example.folder / "none.conllu", "--dev", example.dev,
                  "--model", example.model, failing=True)  # fmt: skip
    assert "none.conllu: cannot be read" in message and "Traceback" not in message
    assert not example.model.exists()


def bert(folder, sentences, tokens=512):
    """Save a tiny random BERT for up to `tokens` tokens, which are characters; return its tokenizer and model."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: `make torch-test` runs this test")
    folder.mkdir()
    characters = sorted({character for words in sentences for word in words for character in word})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *("##" + character for character in characters)]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False)
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    model = transformers.BertModel(transformers.BertConfig(vocab_size=len(pieces), max_position_embeddings=tokens, **sizes))
    model.save_pretrained(folder)
    return tokenizer, model.eval()


def test_the_example_with_a_transformer(example):
    bert(example.folder / "bert", [sentence.words for sentence in conllu.read(str(example.train))])
    scores = example.trained("--transformer", example.folder / "bert", updates=20)
    assert scores
    parsed = example.parsed(example.test)
    assert all(in_class(sentence.heads, "mh4") for sentence in parsed)


def test_contextual_vectors(tmp_path):
    """Vectors of words are means over their tokens. Too long sentences are halved, too long words cut at the end."""
    pytest.importorskip("safetensors", reason="safetensors is not installed: `make torch-test` runs this test")
    a, b, long = ["ab", "a", "bab"], ["bb", "ba", "b"], ["a" * 50]
    sentences = [a, b, a + b, long, ["a" * 8]]
    tokenizer, model = bert(tmp_path / "bert", sentences, tokens=10)
    (tmp_path / "x.conllu").write_text("".join("".join(ROW % row for row in enumerate(words, 1)) + "\n" for words in sentences))
    script, output = toy.ROOT / "examples" / "contextual_vectors.py", tmp_path / "x.safetensors"
    printed = run(script, "--transformer", tmp_path / "bert", "-o", output, tmp_path / "x.conllu")
    assert printed == "%s: vectors of 5 sentences\n" % output
    assert output.stat().st_mode == (tmp_path / "x.conllu").stat().st_mode  # readable by the same users
    for folder, to, said in (("none", output, "none' does not exist"), ("bert", tmp_path / "x.conllu", "would overwrite")):
        assert said in run(script, "--transformer", tmp_path / folder, "-o", to, tmp_path / "x.conllu", failing=True)
    vectors = Contextual([str(output)])
    of_a, of_b, of_both, of_long, of_eight = (vectors.of(Sentence(words)) for words in sentences)
    hidden = model(**tokenizer([a], is_split_into_words=True, return_tensors="pt")).last_hidden_state[0].detach().numpy()
    expected = [hidden[1:3].mean(axis=0), hidden[3], hidden[4:7].mean(axis=0)]
    np.testing.assert_allclose(of_a, expected, atol=2e-3)
    assert np.array_equal(of_both, np.concatenate([of_a, of_b])) and np.array_equal(of_long, of_eight)


def test_the_benchmark(tmp_path):
    log = tmp_path / "parser.log"
    log.write_text("500 updates: UAS 63.27, LAS 48.93, 329 tokens/s\n1000 updates: UAS 61.00, LAS 50.00, 400 tokens/s\n")
    printed = run(toy.ROOT / "benchmarks" / "distributions.py", "--rounds", 1, "--training", log)
    assert "| `argmax` | 40 | " in printed
    assert (
        "UAS 63.27 and LAS 48.93 on dev, the best of the evaluations in 1000 updates (when training was stopped; it had"
        in printed
    )
