"""Train segmenters, segment raw text, and run `mh4 parse --text`, on the toy language."""

import io
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import toy
from click.testing import CliRunner
from running import WRITTEN, mh4, refuses, succeeds

import mh4 as mh4_package
from mh4 import cli
from mh4.analysis.evaluation import official
from mh4.data import conllu, text_lines
from mh4.data.cells import DEPREL, HEAD, MISC
from mh4.data.segmenter import Segmenter
from mh4.errors import InputError
from mh4.training.trainer import Trainer

pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(treebank):
    path, dev = str(treebank / "segmenter"), str(treebank / "toy-ud-dev.conllu")
    done = mh4("segmenter", "train", dev, "--dev", dev, "-o", path, "--epochs", "2")
    assert done.returncode == 0 and done.stdout == b""
    assert done.stderr.decode() == "mh4: the segmenter written to %s\n" % path
    return path


@pytest.fixture(scope="module")
def model(treebank):
    sentences = conllu.read(str(treebank / "toy-ud-dev.conllu"))
    settings = toy.small("training.max_updates=10", "training.evaluate_updates=10")
    Trainer("mst", settings, sentences, sentences, str(treebank / "model")).run()
    return str(treebank / "model")


def text_of(blocks):
    return " ".join(block.comment("text") for block in blocks)


def test_the_toy_language_is_segmented(trained, treebank, tmp_path):
    """Text of the treebank, on several lines and with a byte order mark, is segmented nearly as in the treebank."""
    gold = str(treebank / "toy-ud-test.conllu")
    text = tmp_path / "text.txt"
    text.write_text("\ufeff" + text_of(conllu.blocks(gold)).replace(" v", "\nv"), encoding="utf-8")
    blocks = list(Segmenter(trained).blocks(str(text)))
    parsed = tmp_path / "segmented.conllu"
    flat = [{HEAD: [str(int(m > 0)) for m in range(len(b.sentence))], DEPREL: ["x"] * len(b.sentence)} for b in blocks]
    parsed.write_text("".join(block.text(columns) for block, columns in zip(blocks, flat)), encoding="utf-8")
    scores = official(gold, str(parsed))
    assert scores["Words"].f1 > 98 and scores["Sentences"].f1 > 95
    assert text_of(blocks).split() == text_of(conllu.blocks(gold)).split()


def test_paragraphs_and_spaces(trained, tmp_path, monkeypatch):
    """Blank lines end sentences, MISC records spaces, and long text is segmented in pieces with the same result."""
    path = tmp_path / "text.txt"
    path.write_text("kaluma dorpit\n\nTa  kaluma dorpit.\n \n" * 3, encoding="utf-8")
    blocks = list(Segmenter(trained).blocks(str(path)))
    assert [block.sentence.words for block in blocks] == [["kaluma", "dorpit"], ["Ta", "kaluma", "dorpit", "."]] * 3
    assert [block.sent_id for block in blocks] == list("123456")
    assert blocks[1].column(MISC)[0] == "SpacesAfter=\\s\\s" and blocks[1].column(MISC)[2] == "SpaceAfter=No"
    monkeypatch.setattr(text_lines, "PORTION", 10)
    assert [block.lines for block in Segmenter(trained).blocks(str(path))] == [block.lines for block in blocks]


@pytest.mark.parametrize("space", "\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029\ufeff")
def test_white_space_is_no_part_of_words(trained, tmp_path, space):
    """White space separates words; the end of a page or paragraph also ends a sentence."""
    text = "%sTa kaluma%sdorpit berodo.%s%sTa %s dorpit.\n".replace("%s", space)
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    for sentences in (Segmenter(trained).sentences(text), [block.sentence for block in Segmenter(trained).blocks(str(path))]):
        words = [one.words for one in sentences]
        assert sum(words, []) == ["Ta", "kaluma", "dorpit", "berodo", ".", "Ta", "dorpit", "."]
        assert (["Ta", "kaluma"] in words) == (space in "\f\u2029")


def test_no_break_spaces_between_words(trained):
    r"""No-break and ideographic spaces are recorded as \s in MISC, which may have no white space in UD."""
    (block,) = Segmenter(trained).blocks_of("\xa0Ta\xa0kaluma\u3000\tdorpit .\xa0\n", "text", "presegmented")
    assert block.sentence.words == ["Ta", "kaluma", "dorpit", "."]
    assert block.column(MISC) == [r"SpacesBefore=\s|SpacesAfter=\s", r"SpacesAfter=\s\t", "_", r"SpacesAfter=\s\n"]


@pytest.mark.parametrize("portion", [1, text_lines.PORTION])
@pytest.mark.parametrize("options", ["ranges", "presegmented;ranges"])
def test_ranges(trained, tmp_path, monkeypatch, portion, options):
    """TokenRange has offsets in the original text, with its byte order marks, page and line ends, and white space."""
    monkeypatch.setattr(text_lines, "PORTION", portion)
    text = "\ufeff\ufeffTa kaluma.\fTa\u2029\f\tkaluma \U0001f600\r\n\n\t\n\n\f\ufeffdorpit\u2028berodo\r\r\f\n\nTa.\n\n"
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    segmenter = Segmenter(trained)
    from_files = [segmenter.blocks(name, options) for name in (str(path), "-")]
    for read in (segmenter.blocks_of(text, "text", options), *from_files):
        blocks = list(read)
        words = [word for block in blocks for word in block.sentence.words]
        ranges = re.findall("TokenRange=([0-9]+):([0-9]+)", "".join(line for block in blocks for line in block.lines))
        assert words == [text[int(start) : int(end)] for start, end in ranges]
        assert "".join(words) == "Takaluma.Takaluma\U0001f600dorpitberodoTa."


def test_raw_text_is_parsed(trained, model, tmp_path, monkeypatch):
    text, out = tmp_path / "text.txt", tmp_path / "out"
    text.write_text("Ta kaluma dorpit berodo. Ta kaluma dorpit.\n", encoding="utf-8")
    options = ["--text", "--segmenter", trained, "--model", model, "--tags"]
    assert succeeds("parse", *options, str(text), "-o", str(out) + "/") == b""
    first, second = conllu.blocks(str(out / "text.conllu"))
    assert first.sentence.words == ["Ta", "kaluma", "dorpit", "berodo", "."]
    assert first.comment("text") == "Ta kaluma dorpit berodo."
    assert first.sentence.upos[0] != "_" and (first.sentence.heads[1:] == 0).sum() == 1 and second.sent_id == "2"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.read_bytes())))
    assert text_of(Segmenter(trained).blocks("-")) == text.read_text().strip()


def test_bad_text(trained, model, tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "out.conllu"
    for empty in (b"", b" \n\n\t\n"):
        text.write_bytes(empty)
        with pytest.raises(conllu.NoSentences, match="text.txt: no text in it"):
            list(Segmenter(trained).blocks(str(text)))
    for content, message in (
        (b"abc\ncaf\xe9\n", "text.txt, line 2: not UTF-8 (byte 0xe9)"),
        (b"a\0b\n", "text.txt, line 1: a character NUL, expected text"),
    ):
        text.write_bytes(content)
        options = ["--text", "--segmenter", trained, "--model", model]
        assert message in refuses("parse", *options, str(text), "-o", str(out)) and not out.exists()


@pytest.mark.parametrize(
    "content", [b"", b"text", b"\x12morphodita_parsito", b"\xff" * 100, "truncated", "changed", "first byte"]
)
def test_damaged_segmenters(trained, tmp_path, content):
    good = open(trained, "rb").read()
    made = {
        "truncated": good[: len(good) // 2],
        "changed": good[:5000] + bytes([good[5000] ^ 1]) + good[5001:],
        "first byte": b"\xff" + good[1:],  # UDPipe aborts on it
    }
    path = tmp_path / "damaged"
    path.write_bytes(made.get(content, content))
    with pytest.raises(InputError, match="damaged, or not a segmenter: expected a file that `mh4 segmenter train` has written"):
        Segmenter(str(path))


@pytest.mark.parametrize("name", [b"\xff\xfe", b"a\nb", b"\x1b[31m", "é".encode(), b"-"])
def test_names_of_any_bytes(trained, model, tmp_path, monkeypatch, name):
    """Segmenters, texts and outputs may have names of any bytes, although UDPipe accepts only UTF-8."""
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(name)
    shutil.copy(trained, name)
    (tmp_path / ("text" + name)).write_text("Ta kaluma dorpit berodo.\n", encoding="utf-8")
    arguments = ["parse", "--text", "--segmenter", "./" + name, "--model", model, "text" + name, "-o", "parsed" + name]
    done = CliRunner().invoke(cli.main, arguments)
    assert done.exit_code == 0 and WRITTEN.sub("", done.output) == "", done.output
    assert (tmp_path / ("parsed" + name)).read_bytes().count(b"\n") == 10


def test_udpipe_reports_on_its_epochs(treebank, tmp_path, capfd):
    dev = str(treebank / "toy-ud-dev.conllu")
    for quiet, epochs in (([], 1), (["--quiet"], 0)):
        succeeds("segmenter", "train", dev, "--dev", dev, "-o", str(tmp_path / "segmenter"), "--epochs", "1", *quiet)
        assert capfd.readouterr().err.count("\nEpoch ") == epochs


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)], ids=["FIFO", "/dev/zero"])
def test_what_never_ends_is_no_segmenter(tmp_path, make):
    make(tmp_path / "odd")
    with pytest.raises(InputError, match="odd: cannot be read: not a file"):
        Segmenter(str(tmp_path / "odd"))


def test_what_cannot_be_trained(treebank, tmp_path, monkeypatch):
    out, bad, good = tmp_path / "out", tmp_path / "bad.conllu", str(treebank / "toy-ud-dev.conllu")
    bad.write_text("1\tw\n\n")
    for train, dev in ((str(bad), good), (good, str(bad))):
        message = refuses("segmenter", "train", train, "--dev", dev, "-o", str(out))
        assert "bad.conllu, line 1, sentence 1: 2 columns" in message
    monkeypatch.setitem(sys.modules, "ufal.udpipe", None)
    message = refuses("segmenter", "train", good, "--dev", good, "-o", str(out))
    assert message == "mh4: segmenting text needs ufal.udpipe, which is not installed: pip install 'ufal.udpipe>=1.3'"
    assert not out.exists()


def test_a_parser_takes_raw_text_with_a_segmenter(trained, model):
    """Each string is replaced by its parsed sentences; without a segmenter, the error names the missing argument."""
    parser, text = mh4_package.load(model), "Ta zenita wibonit mosuro. Foskla pisola gundet."
    segmented = Segmenter(trained).sentences(text)
    assert [word for sentence in segmented for word in sentence.words][:2] == ["Ta", "zenita"]
    for one in (trained, os.fsencode(trained), Segmenter(trained)):
        found = parser.parse([text, "", ["ta"]], segmenter=one)
        assert [s.words for s in found] == [*(s.words for s in segmented), ["ta"]]
        assert [s.name for s in found[:-1]] == ["the text, sentence 1", "the text, sentence 2"]
        assert [s.heads.tolist() for s in found[:-1]] == [s.heads.tolist() for s in parser.parse(text, segmenter=one)]
    with pytest.raises(InputError, match="raw text needs a segmenter: segmenter=FILE"):
        parser.parse([text])
    for bad, message in ((3, "segmenter cannot be 3"), ("", "segmenter cannot be ''"), (model, model)):
        with pytest.raises(InputError, match=re.escape(str(message))):
            parser.parse([text], segmenter=bad)


def test_threads_share_a_segmenter(trained):
    """Threads that share a segmenter each get the words of their own text."""
    segmenter, texts = Segmenter(trained), ["%s ta. " % word * 60 for word in ("folko", "berodo", "kaluma", "dorpit")]
    alone = [[one.words for one in Segmenter(trained).sentences(text)] for text in texts]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(5):
                assert [[one.words for one in found] for found in pool.map(segmenter.sentences, texts)] == alone
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("character", ["\0", "\ud83d", "\udcff"])
def test_text_that_cannot_be_segmented(trained, character):
    with pytest.raises(InputError, match="^the text has a character that cannot be segmented: "):
        Segmenter(trained).sentences("ta %s zenita." % character)


def test_options_of_the_tokenizer(trained):
    segmenter = Segmenter(trained)
    for options in ("presegmentd", "foo=bar", "presegmented;x"):
        with pytest.raises(InputError, match="no options .*, expected: normalized_spaces, presegmented, ranges"):
            segmenter.blocks_of("ta.", "the data", options)
    assert len(list(segmenter.blocks_of("ta. ta.\nta.", "the data", "presegmented;normalized_spaces"))) == 2
