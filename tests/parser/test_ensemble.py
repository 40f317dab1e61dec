"""Ensembles: the tree with the most votes, by enumeration; labels of all members; votes from files; the command."""

import re
from dataclasses import replace

import brute
import numpy as np
import pytest
import toy
from running import mh4 as mh4_command
from running import refuses, succeeds
from tiny import int32

import mh4
from mh4 import trees
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser.ensemble import TREES, Ensemble, SentenceWithVotes, vote
from mh4.parser.parsing import Parser
from mh4.training.trainer import Trainer

BRUTE = {"mst": "all", "mh4": "mh4", "1ec": "1ec"}


def support(heads, votes):
    """Return the number of votes for the arcs of a tree, and minus the sum of their first voters (last if none)."""
    voters = [[k for k, other in enumerate(votes) if other[m] == heads[m]] for m in range(1, len(heads))]
    return sum(map(len, voters)), -sum(min(each, default=len(votes) - 1) for each in voters)


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES)
def test_the_tree_has_most_votes_of_its_class(tree):
    """The tree has the most votes of all single-root trees, then the earliest voters. Votes may have several roots."""
    rng = np.random.default_rng(1)
    outside = 0
    for _ in range(150):
        n, members = rng.integers(1, 6), rng.integers(1, 6)
        every = brute.all_trees(n)
        votes = [int32(every[rng.integers(len(every))]) for _ in range(members)]
        found = vote(votes, tree)
        candidates = [heads for heads in brute.class_trees(n, BRUTE[tree]) if brute.has_single_root(heads)]
        assert tuple(found) in candidates and found.dtype == np.int32
        assert support(found, votes) == max(support(heads, votes) for heads in candidates)
        outside += not trees.in_class(vote(votes), TREES[tree])
    assert tree == "mst" or outside > 2  # the class matters


def test_long_sentences_and_many_members_are_exact():
    """Decoders in float32 do not lose votes of long sentences and many members."""
    rng = np.random.default_rng(3)
    attached = [int32([-1, 0, *(rng.integers(max(1, m - 4), m) for m in range(2, 61))]) for _ in range(9)]
    votes = [trees.nearest(heads, "projective", single_root=True) for heads in attached]  # in every class
    of_all = support(vote(votes), votes)
    for tree in ("mh4", "1ec"):
        found = vote(votes, tree)
        assert trees.in_class(found, TREES[tree])
        assert of_all >= support(found, votes) >= max(support(heads, votes) for heads in votes)


@pytest.fixture(scope="module")
def models(treebank):
    """Folders of models of three systems, trained on different sentences, the last with other labels."""
    sentences = toy.sentences(treebank)
    settings = toy.small("training.max_updates=60", "training.evaluate_updates=30")
    folders = []
    for system, part in (("mh4-hybrid", sentences[:30]), ("1ec", sentences[30:60]), ("mst", sentences[60:90])):
        if system == "mst":
            own = {"det": "det:the", "punct": "mark"}
            part = [replace(s, deprels=[own.get(label, label) for label in s.deprels]) for s in part]
        folders.append(str(treebank / system))
        Trainer(system, settings, part, sentences[90:95] if system != "mst" else part[:5], folders[-1]).run()
    return folders


@pytest.mark.slow
def test_an_ensemble_of_one_is_the_parser(models, treebank):
    sentences = toy.sentences(treebank, "test")
    for folder in models:
        assert mh4.load([folder]).parse(sentences) == mh4.load(folder).parse(sentences)
    words = [sentence.words for sentence in sentences[:3]]
    assert mh4.load((models[0],), tree="mh4").parse(words) == mh4.load(models[0]).parse(words)


@pytest.mark.slow
def test_members_vote_for_arcs_and_average_labels_and_tags(models, treebank):
    sentences = toy.sentences(treebank, "test")
    seen = []
    parsers = [mh4.load(folder) for folder in models]
    parsed = Ensemble(parsers).parse(sentences, seen.append, tags=True)
    assert sum(seen) == sum(map(len, sentences)) and len(parsed) == len(sentences)
    own = [parser.parse(sentences) for parser in parsers]
    from_others = 0
    for k, sentence in enumerate(parsed):
        assert sentence.heads.tolist() == vote([member[k].heads for member in own]).tolist()
        for column, table in (("deprels", "labels"), ("upos", "upos"), ("feats", "feats")):
            average = [{} for _ in sentence.words]
            deprels = column == "deprels"
            for parser in parsers:
                scores = parser.model.build([sentence])
                expression = scores.labels([sentence.heads]) if deprels else scores.tags[column]
                strings = getattr(parser.model.vocabulary, table).strings
                values = np.exp(expression.npvalue().reshape((len(strings), -1))[1:].astype(float))
                for word, probabilities in enumerate((values / values.sum(axis=0)).T):
                    for string, probability in zip(strings[1:], probabilities):
                        average[word][string] = average[word].get(string, 0) + probability / len(parsers)
            for word, (found, head) in enumerate(zip(getattr(sentence, column), sentence.heads[1:])):
                if deprels and head == 0:
                    assert found == "root"
                else:
                    assert not (deprels and found == "root")
                    others = [p for string, p in average[word].items() if not (deprels and string == "root")]
                    assert average[word][found] > max(others) - 1e-5
            from_others += deprels and sum(a != b for a, b in zip(sentence.deprels, own[0][k].deprels))
    assert from_others > 10
    assert {"det:the", "mark"} & {label for sentence in parsed for label in sentence.deprels}


def sentence(heads, deprels):
    return Sentence(["w%d" % k for k in range(1, len(heads))], deprels=deprels, heads=int32(heads))


def test_labels_of_files_count_for_the_arcs_that_they_have():
    one, two, three = (
        sentence([-1, 0, 1, 2], ["root", "obj", "det"]),
        sentence([-1, 0, 1, 1], ["root", "nsubj", "case"]),
        sentence([-1, 2, 0, 1], ["obl", "root", "case"]),
    )
    words = sentence([-1, 0, 1, 1], None).words

    def parsed(*votes):
        (result,) = Ensemble([]).parse([SentenceWithVotes(words, votes=votes)])
        return result.heads.tolist(), result.deprels

    assert parsed(one, two, three) == ([-1, 0, 1, 1], ["root", "obj", "case"])
    assert parsed(two, one, three) == ([-1, 0, 1, 1], ["root", "nsubj", "case"])
    # A label of another arc counts if no member has the arc, "_" never counts, and the fallback is dep.
    silent = replace(two, deprels=["_", "", "_"])
    assert parsed(silent, one, silent) == ([-1, 0, 1, 1], ["root", "obj", "det"])
    assert parsed(silent) == ([-1, 0, 1, 1], ["root", "dep", "dep"])
    with pytest.raises(InputError, match="no votes for it"):
        parsed()
    with pytest.raises(InputError, match="no class of trees 'mh9'; there are mst, mh4, 1ec"):
        Ensemble([], "mh9")


def test_votes_that_are_none():
    good = sentence([-1, 0, 1, 1], ["root", "x", "y"])
    assert len(Ensemble([]).parse([SentenceWithVotes(good.words, votes=(good,))])) == 1 and Ensemble([]).parse([]) == []
    for votes in (None, 1, "x", {}, iter([good]), [None], [["root"]], [good, 1], [good.heads]):
        with pytest.raises(InputError, match="its votes cannot be .*, expected a list of Sentence$"):
            Ensemble([]).parse([SentenceWithVotes(good.words, votes=votes)])
    for heads in ([-1, 0], [-1, 0, 1, 1, 1], [-1, 2, 1, 0], [-1, 0, 1, 9], [0, 0, 1, 1], [-1, 0, 1, -1], [[-1, 0, 1, 1]], []):
        with pytest.raises(InputError, match="vote 2 is not a tree over its words"):
            Ensemble([]).parse([SentenceWithVotes(good.words, votes=[good, sentence(heads, good.deprels)])])
    for heads in (None, "x", np.array([-1, 0, 1, 1.0]), [-1, 0, "x", 1], np.array([-1, 0, 1, None], dtype=object)):
        with pytest.raises(InputError, match="vote 1 is not a tree over its words"):
            Ensemble([]).parse([SentenceWithVotes(good.words, votes=[replace(good, heads=heads)])])
    for deprels in (None, [], ["root"] * 2, ["root", "x", None], ["root", "x", ["y"]]):
        with pytest.raises(InputError, match="vote 1 does not have a relation for each of its words"):
            Ensemble([]).parse([SentenceWithVotes(good.words, votes=[replace(good, deprels=deprels)])])


def test_models_of_labels_that_have_nothing_in_common(treebank, models):
    sentences = [replace(s, deprels=["L" + d if d != "root" else d for d in s.deprels]) for s in toy.sentences(treebank)[:20]]
    folder = str(treebank / "other")
    toy.untrained("mst", sentences, folder)
    with pytest.raises(InputError, match="^mst: expected a list of the folders of several models$"):
        Ensemble.load("mst")
    with pytest.raises(InputError, match="mst and .*other have no label in common except root"):
        mh4.load([models[2], folder])
    assert len(Parser.load(folder).parse([["ta"]])) == 1
    with pytest.raises(InputError, match="no config.toml there"):
        mh4.load([models[0], str(treebank / "none")])


@pytest.fixture(scope="module")
def other(treebank):
    """The test set parsed by another parser: the gold trees, with an additional label."""
    path = treebank / "other.conllu"
    text = (treebank / "toy-ud-test.conllu").read_text(encoding="utf-8")
    path.write_text(text.replace("\tnsubj\t", "\tnsubj:file\t"), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_the_command(models, other, treebank):
    gold, out = str(treebank / "toy-ud-test.conllu"), str(treebank / "out.conllu")
    arguments = [option for folder in models for option in ("--model", folder)]
    assert succeeds("ensemble", *arguments, gold, "-o", out) == b""
    before, after = (open(path, "rb").read() for path in (gold, out))
    kept = [line for line in before.split(b"\n") if not re.match(rb"\d+\.", line)]  # all but empty nodes
    for one, two in zip(kept, after.split(b"\n"), strict=True):
        one, two = one.split(b"\t"), two.split(b"\t")
        assert one[:6] == two[:6] and one[9:] == two[9:]
        assert two[8:9] == ([b"_"] if one[0].isdigit() else one[8:9])
        assert one == two or one[0].isdigit()
    expected = mh4.load(models).parse(conllu.read(gold))
    for sentence, parsed in zip(conllu.read(out), expected):
        assert sentence.heads.tolist() == parsed.heads.tolist() and sentence.deprels == parsed.deprels
    assert succeeds("ensemble", *arguments, "--jobs", "2", "-", stdin=before) == after
    tagged = succeeds("ensemble", *arguments, "--tags", gold)
    columns = [[line.split("\t") for line in text.decode().split("\n")] for text in (after, tagged)]
    assert all(one[:3] == two[:3] and one[6:] == two[6:] for one, two in zip(*columns)) and tagged != after
    (treebank / "mh4.data.conllu").write_bytes(succeeds("ensemble", *arguments, "--tree", "mh4", gold))
    assert all(trees.in_class(sentence.heads, "mh4") for sentence in conllu.read(str(treebank / "mh4.data.conllu")))

    # With a file: the same result with several processes, or from standard input.
    with_file = succeeds("ensemble", "--keep-deps", "--model", models[0], "--vote", other, "--vote", other, gold)
    assert with_file == open(other, "rb").read()
    arguments = ["--model", models[0], "--vote", other, "--vote", "-", "--jobs", "2", gold]
    assert succeeds("ensemble", "--keep-deps", *arguments, stdin=with_file) == with_file


@pytest.mark.slow
def test_bad_input_is_one_sentence(models, other, treebank, tmp_path):
    gold = str(treebank / "toy-ud-test.conllu")
    bad, out = tmp_path / "bad.conllu", tmp_path / "out.conllu"
    text = open(other, encoding="utf-8").read()

    def answer(changed, *more):
        bad.write_text(changed, encoding="utf-8")
        return refuses("ensemble", "--model", models[0], "--vote", str(bad), gold, "-o", str(out), *more)

    (first, second, *_), last = conllu.read(gold)[:3], conllu.read(gold)[-1]
    rows = text.splitlines(keepends=True)
    at = next(k for k, row in enumerate(rows) if row.startswith("2\t"))
    cells = rows[at].split("\t")
    changed = "".join([*rows[:at], "\t".join([cells[0], "other", *cells[2:]]), *rows[at + 1 :]])
    line = answer(changed)
    assert "bad.conllu, line 1, sentence 1" in line and "word 2 is 'other', but %r in %s" % (cells[1], first.name) in line
    # An extra word or sentence, or a missing sentence.
    blocks = [block.text({}) for block in conllu.blocks(other)]
    longer = blocks[0].rstrip("\n") + "\n%d\tmore\t_\t_\t_\t_\t1\tdep\t_\t_\n\n" % (len(first) + 1)
    assert "%d words, but %d in %s" % (len(first) + 1, len(first), first.name) in answer(longer + "".join(blocks[1:]))
    line = answer("".join(blocks[:1]))
    assert "bad.conllu: ends before %s, expected the same sentences" % second.name in line
    line = answer("".join([*blocks, blocks[0]]))
    assert "bad.conllu, line" in line and "expected the end of the file, as after %s" % last.name in line
    line = answer("".join(rows[:at]) + rows[at].replace("\t%s\t" % cells[6], "\t_\t", 1) + "".join(rows[at + 1 :]))
    assert "bad.conllu, line %d, sentence 1" % (at + 1) in line and "no HEAD" in line
    assert "bad.conllu: ends before" in answer("".join(blocks[:1]), "--jobs", "2")

    assert "an ensemble needs a member: --model DIR or --vote FILE.conllu" in refuses("ensemble", gold)
    assert "--tags needs a --model" in refuses("ensemble", "--vote", other, "--tags", gold)
    assert "standard input can be read only once" in refuses("ensemble", "--vote", "-", "-", stdin=b"")
    assert "cannot be read" in refuses("ensemble", "--vote", str(tmp_path / "none"), gold)
    for jobs in "1", "2":
        assert "no config.toml there" in refuses("ensemble", "--model", models[0], "--model", str(tmp_path), gold, "--jobs", jobs)
    assert not out.exists()


def test_of_two_members_the_first_wins_and_the_command_says_so(other, treebank, tmp_path):
    gold, words = str(treebank / "toy-ud-test.conllu"), conllu.read(other)
    chains = tmp_path / "chains.conllu"
    toy.write_conllu(chains, [replace(s, heads=np.arange(-1, len(s))) for s in words])

    def voted(*members, options=()):
        done = mh4_command("ensemble", *(word for member in members for word in ("--vote", str(member))), *options, gold)
        out = tmp_path / "voted.conllu"
        out.write_bytes(done.stdout)
        return [sentence.heads.tolist() for sentence in conllu.read(str(out))], done.stderr.decode()

    for members in ((other, chains), (chains, other)):
        found, said = voted(*members)
        assert found == [sentence.heads.tolist() for sentence in conllu.read(str(members[0]))]
        assert (
            said == "mh4: where two members differ, the first wins, unless it has several roots: it takes a third to outvote it\n"
        )
    assert voted(chains, other, options=["--quiet"])[1] == voted(chains, other, other)[1] == ""
    assert voted(chains, other, other)[0] == voted(other, chains)[0]


def test_probabilities_are_those_of_the_members_on_average(models, treebank):
    sentences = toy.sentences(treebank, "test")[:10]
    ensemble = mh4.load(models)
    marginals = []
    for parser in ensemble.parsers:
        found = {}
        for batch, scores in parser.model.score(sentences):
            found.update(zip(batch, parser.marginals([sentences[k] for k in batch], scores)))
        marginals.append(found)
        parser.model.label_temperature = 0.5
    for k, (parsed, plain) in enumerate(zip(ensemble.parse(sentences, confidence=True), ensemble.parse(sentences))):
        assert parsed.heads.tolist() == plain.heads.tolist() and plain.probabilities is None and parsed.probabilities[0] == 1
        for m in range(1, len(parsed) + 1):
            expected = sum(found[k].arcs[parsed.heads[m], m] for found in marginals) / len(models)
            assert parsed.probabilities[m] == pytest.approx(expected, abs=1e-4)
        of_labels = [toy.probabilities_of_labels(parser, [parsed]) for parser in ensemble.parsers]
        np.testing.assert_allclose(parsed.label_probabilities[1:], np.mean(np.nan_to_num(of_labels), axis=0), atol=1e-4)
    voted = SentenceWithVotes(**{**vars(sentences[0]), "votes": [sentences[0]]})
    with pytest.raises(InputError, match="the trees that vote have no probabilities"):
        ensemble.parse([voted], confidence=True)


@pytest.mark.slow
def test_an_ensemble_and_its_members_test_themselves(models, treebank):
    file = treebank / "toy-ud-test.conllu"
    gold = conllu.read(str(file))
    for parser in (mh4.load(models), mh4.load(models[0])):
        scores = attachment_scores(gold, parser.parse(gold))
        assert parser.test(file) == parser.test(gold) == parser.test(iter(gold)) == scores
        for bad in ([], ["a"], [["a"]], [Sentence(["a"])], gold[0], 3):
            with pytest.raises(InputError):
                parser.test(bad)
    out = succeeds("test", "--model", models[0], str(file)).decode()
    assert out.startswith("UAS %.2f  LAS %.2f  " % (scores["uas"], scores["las"]))
    assert repr(mh4.load(models)).startswith("<mh4.Ensemble of 3, tree mst: <mh4.Parser mh4-hybrid, exact decoding; ")
