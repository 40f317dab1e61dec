"""TokenLists of the package conllu are parsed and measured like their files by the commands."""

import io
import os
from pathlib import Path

import conllu as library
import numpy as np
import pytest
import toy
from running import succeeds

import mh4
from mh4.analysis import comparison, score_tables
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser.ensemble import Ensemble
from mh4.parser.temperatures import Temperatures

MORE = """\
# sent_id = more
# text = ta wibonit
1-2	tawibonit	_	_	_	_	_	_	_	SpaceAfter=No
1	ta	ta	DET	_	_	2	det	2:det	ArcProb=0.5|Gloss=the
2	wibonit	_	VERB	V|3	Number=Sing|Person=3	0	root	0:root	_
2.1	ta	_	_	_	_	_	_	2:dep	CopyOf=1

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("token-lists")
    toy.untrained("mh4-hybrid", toy.sentences(folder, "dev"), folder / "model")
    Temperatures(2.0, 1.0, 1.0).save(str(folder / "model"))
    text = (folder / "toy-ud-dev.conllu").read_text(encoding="utf-8")
    (folder / "in.conllu").write_text(MORE + text, encoding="utf-8")
    return folder


def bank(path):
    return library.parse(Path(path).read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"tags": True}, {"tags": True, "confidence": True}, {"keep_deps": True}])
def test_they_are_parsed_as_their_file_is(folder, options):
    path = str(folder / "in.conllu")
    switches = ["--" + name.replace("_", "-") for name in options]
    out = succeeds("parse", "--model", str(folder / "model"), path, *switches).decode("utf-8")
    parser = mh4.load(folder / "model")
    with open(path, encoding="utf-8") as file:
        parsed = parser.parse(library.parse_incr(file), **options)
    assert all(isinstance(tokens, library.TokenList) for tokens in parsed)
    assert "".join(tokens.serialize() for tokens in parsed) == out
    assert parsed == library.parse(out)
    assert out.startswith(MORE[: MORE.index("1\tta")])
    graph = "\t2:det\t" in out, "\n2.1\tta\t_\t_\t_\t_\t_\t_\t2:dep\tCopyOf=1\n\n" in out
    assert graph == (bool(options.get("keep_deps")),) * 2


def test_what_is_given_stays_as_it_was_and_lists_may_be_mixed(folder):
    parser, tokens = mh4.load(folder / "model"), bank(folder / "in.conllu")
    words = [token["form"] for token in tokens[1]]
    first, second, third = parser.parse([tokens[1], words, Sentence(words)])
    assert tokens == bank(folder / "in.conllu")
    assert isinstance(first, library.TokenList) and isinstance(second, Sentence) and isinstance(third, Sentence)
    assert [token["head"] for token in first] == second.heads[1:].tolist() == third.heads[1:].tolist()
    assert [token["deprel"] for token in first] == second.deprels
    assert Ensemble([parser]).parse([tokens[1]], keep_deps=True)[0].serialize().count("\n") == tokens[1].serialize().count("\n")


@pytest.mark.slow
def test_they_are_measured_as_their_files_are(folder):
    gold, out = str(folder / "in.conllu"), str(folder / "out.conllu")
    succeeds("parse", "--model", str(folder / "model"), gold, "-o", out)
    scores = mh4.evaluate(bank(gold), bank(out))
    assert scores == mh4.evaluate(Path(gold), out)
    assert scores["UAS"] == mh4.evaluate(conllu.read(gold), conllu.read(out))["UAS"]
    assert scores["UAS"] == score_tables.score_files(gold, [out])[0].metrics["UAS"].score()
    assert mh4.evaluate(gold, gold)["LAS"].f1 == 100
    measured = mh4.compare(bank(gold), bank(out), library.parse_incr(io.StringIO(Path(gold).read_text())))
    assert measured.differences == comparison.compare(gold, out, gold).differences
    named = mh4.compare(bank(gold), out, bank(gold))
    assert (named.path, [system.paths for system in named.systems]) == ("gold", [(out,), ("b",)])
    assert mh4.coverage(bank(gold)) == mh4.coverage(gold) == mh4.coverage(conllu.read(gold))
    assert mh4.coverage(gold).sentences == mh4.coverage(os.fsencode(gold)).sentences == 81


def test_words_have_to_be_numbered(folder):
    parser, tokens = mh4.load(folder / "model"), bank(folder / "in.conllu")
    with pytest.raises(InputError, match="^sentence more: word 1 has the id 2, expected 1$"):
        parser.parse([tokens[0].filter(upos="VERB")])
    with pytest.raises(InputError, match="^sentence 1: no token has a whole number as its id, as words have$"):
        parser.parse([library.TokenList([{"id": "1", "form": "ta"}])])
    tokens[0][1]["head"] = 10**12  # replaced by parsing
    (parsed,) = parser.parse(tokens[:1])
    assert {token["head"] for token in parsed if isinstance(token["id"], int)} <= {0, 1, 2}
    with pytest.raises(InputError, match="cannot test on"):
        parser.test(tokens[:1])


def test_probabilities_of_other_arcs_go_and_the_copy_shares_nothing(folder):
    parser, tokens = mh4.load(folder / "model"), bank(folder / "in.conllu")
    (parsed,) = parser.parse(tokens[:1])
    assert parsed[1]["misc"] == {"Gloss": "the"} and tokens[0][1]["misc"] == {"ArcProb": "0.5", "Gloss": "the"}
    parsed[1]["misc"]["Gloss"] = "a"
    parsed.metadata["sent_id"] = "less"
    assert tokens == bank(folder / "in.conllu")


def test_what_an_earlier_parse_said_of_itself_goes_and_columns_come_in_their_order(folder):
    parser = mh4.load(folder / "model")
    text = "# a = b\n# mh4 = beam 64, 500 words are more than the limit of 400\n" + MORE.partition("wibonit\n")[2]
    (parsed,) = parser.parse(library.parse(text))
    assert parsed.metadata == {"a": "b"}
    tokens = [
        {"id": k, "form": form, "misc": {"SpaceAfter": "No"}, "more": 1} for k, form in enumerate(("ta", "zenita"), start=1)
    ]
    (parsed,) = parser.parse([library.TokenList(list(map(library.Token, tokens)))])
    assert list(parsed[0]) == [*library.parser.DEFAULT_FIELDS, "more"]
    (again,) = library.parse(parsed.serialize().replace("\t1\n", "\n"))
    assert [token["head"] for token in again] == [token["head"] for token in parsed] and again[0]["misc"] == {"SpaceAfter": "No"}


def test_a_complete_tree_that_is_kept_keeps_its_annotations(folder):
    text = "# mh4 = beam 64\n" + MORE.partition("wibonit\n")[2]
    (kept,) = mh4.load(folder / "model").parse(library.parse(text), keep_heads=True, keep_deps=True)
    assert kept.serialize() == text


def test_tokens_made_by_hand_are_measured(folder):
    """TokenLists that lack columns or have numpy's numbers are measured and parsed."""
    parser = mh4.load(folder / "model")
    rows = zip(("ta", "zenita"), np.array([2, 0], np.int32), ("det", "root"))
    tokens = [library.Token(id=np.int64(k), form=form, head=head, deprel=label) for k, (form, head, label) in enumerate(rows, 1)]
    gold = [library.TokenList(tokens)]
    assert mh4.evaluate(gold, gold)["LAS"].f1 == 100
    assert parser.test(gold)["uas"] == mh4.evaluate(gold, parser.parse(gold))["UAS"].f1
    (kept,) = parser.parse(gold, keep_heads=True)
    assert [token["head"] for token in kept] == [2, 0]


def test_other_columns_are_refused(folder):
    plus = library.parse("# global.columns = ID FORM UPOS HEAD DEPREL MORE\n1\tta\tDET\t0\troot\t*\n\n")
    for use in (mh4.load(folder / "model").parse, mh4.load(folder / "model").test):
        with pytest.raises(InputError, match="sentence 1: CoNLL-U Plus is not supported"):
            use(plus)


def test_what_cannot_be_measured(folder):
    gold = str(folder / "in.conllu")
    for bad in (None, 5, [gold, gold], [["ta"]], Sentence(["ta"]), bank(gold)[0]):
        with pytest.raises(InputError, match="^cannot measure .*: expected"):
            mh4.evaluate(gold, bad)
    for path in ("", b"", gold + "\0"):
        with pytest.raises(InputError, match="^gold cannot be .*, expected the path of a file, or sentences$"):
            mh4.evaluate(path, gold)
    with pytest.raises(InputError, match=r"^cannot measure \['ta'\], sentence 1 of system: expected a Sentence"):
        mh4.evaluate(gold, [["ta"]])
    with pytest.raises(InputError, match="^cannot measure sentence 2 of system: the sentence: word 1 cannot be written"):
        mh4.evaluate(gold, [Sentence(["a"]), Sentence(["a\tb"])])
    with pytest.raises(InputError, match="^the sentences given as system, sentence 2: no HEAD"):
        mh4.evaluate(gold, [Sentence(["a"], heads=np.array([-1, 0]), deprels=["root"]), Sentence(["b"])])
    for heads, said in (([3, 0], "HEAD is 3, but the last word is 2"), ([2, 1], "word 1 is part of a cycle of heads")):
        wrong = bank(gold)[:2]
        wrong[0][1]["head"], wrong[0][2]["head"] = heads
        with pytest.raises(InputError, match=r"^the sentences given as gold, sentence 1 \(more\): " + said):
            mh4.evaluate(wrong, gold)
    skipped = bank(gold)
    skipped[0].metadata["mh4"] = "skipped, long"
    with pytest.warns(RuntimeWarning, match="^the sentences given as system: 1 sentence was skipped"):
        mh4.evaluate(gold, skipped)
    for treebank in ([], wrong):
        with pytest.raises(InputError, match="the sentences given as treebank"):
            mh4.coverage(treebank)
    sentences = bank(gold)
    with pytest.raises(InputError, match="^the sentences given as b: the end, but the sentences given as gold, line [0-9]+: "):
        mh4.compare(sentences, sentences, sentences[:1])
    with pytest.raises(InputError, match="^the sentences given as system: "):
        mh4.evaluate(gold, sentences[:1])


@pytest.mark.parametrize(
    "k, column, value, said",
    [
        (0, "upos", "", "UPOS is empty, expected a value, or _ if there is none"),
        (0, "misc", " ", "MISC is ' ', expected"),
        (0, "xpos", "a\tb", r"XPOS is 'a\\tb', which no column"),
        (-1, "feats", {"Case": "No\nm"}, "FEATS is 'Case=No.*', which no column"),
    ],
)
def test_columns_that_no_file_has(folder, k, column, value, said):
    """Columns that are errors in files are errors in TokenLists."""
    parser, (tokens, *_) = mh4.load(folder / "model"), bank(folder / "in.conllu")
    words = [token for token in tokens if isinstance(token["id"], int)]
    words[k][column] = value
    with pytest.raises(InputError, match="^sentence .*: token %s: %s" % (words[k]["id"], said)):
        parser.parse([tokens])
    words[k][column] = "x"
    tokens.metadata["text"] = "a\nb"
    with pytest.raises(InputError, match="^sentence .*: comment text is "):
        parser.parse([tokens])
