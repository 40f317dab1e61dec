"""Requests to the application and its answers, without a server."""

import json
import re
import shutil
import socket
from xml.etree import ElementTree

import pytest
import toy
from asking import ask, refusal, result, rows, served
from running import succeeds

from mh4.errors import InputError, OutOfMemory, shown
from mh4.serving import answering
from mh4.serving.hosts import Hosts
from mh4.serving.queue import Busy, TooLong
from mh4.util.processes import Killed

pytestmark = pytest.mark.slow  # a segmenter is trained

TEXT = "Ta kaluma dorpit berodo. Ta kaluma dorpit."
HORIZONTAL = "Ta kaluma dorpit berodo .\nTa kaluma dorpit .\n"


@pytest.fixture(scope="module")
def app(abilities):
    return served(abilities, words=100)


def parsed(tmp_path, text, *options):
    """Return what `mh4 parse` writes."""
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(text.encode())
    succeeds("parse", *options, str(source), "-o", str(target), "--quiet")
    return target.read_bytes().decode()


def test_models(app):
    status, headers, body = ask(app, "/models")
    assert status == 200 and headers["content-type"] == "application/json"
    can = {"toy": ["tokenizer", "tagger", "parser"], "toy-mh3": ["tagger", "parser"]}
    assert json.loads(body) == {"models": can, "default_model": "toy"}


def test_the_results_are_those_of_mh4_parse(app, models, tmp_path):
    gold = toy.beginning(models / "toy-ud-test.conllu", 5)
    mst, mh3 = ("--model", str(models / "mst")), ("--model", str(models / "mh3"))
    raw = ("--text", "--segmenter", str(models / "segmenter"))
    assert result(app, data=gold, parser="") == parsed(tmp_path, gold, *mst)
    assert result(app, data=gold, parser="", tagger="", model="toy-mh3") == parsed(tmp_path, gold, *mh3, "--tags")
    assert result(app, data=gold, parser="", confidence="") == parsed(tmp_path, gold, *mst, "--confidence")
    text = TEXT + "\n\nTa kaluma.\n"
    assert result(app, data=text, tokenizer="", parser="", tagger="") == parsed(tmp_path, text, *mst, *raw, "--tags")
    crlf = "\ufeff# a comment\r\n" + gold.replace("\n", "\r\n")
    assert result(app, data=crlf, parser="") == parsed(tmp_path, crlf, *mst)


def test_what_is_not_asked_for_is_kept(app, models):
    gold = toy.beginning(models / "toy-ud-test.conllu", 1)
    assert result(app, data=gold) == result(app, data=gold, tagger="none", parser="none") == gold
    rows = [line.split("\t") for line in gold.splitlines() if line and line[0] != "#"]
    tagged = [line.split("\t") for line in result(app, data=gold, tagger="").splitlines() if line and line[0] != "#"]
    assert [row[6:] for row in rows] == [row[6:] for row in tagged] and all(row[3] != "_" for row in tagged)
    assert result(app, data=TEXT, tokenizer="").count("\n# text = ") == 2
    assert result(app, data="", parser="") == result(app, data=" \n", tokenizer="", parser="") == ""


def test_formats_of_udpipe(app):
    assert result(app, data=HORIZONTAL, input="horizontal", parser="").count("\troot\t") == 2
    assert result(app, data="Ta\nkaluma\n\nTa\n", input="vertical", output="horizontal") == "Ta kaluma\nTa\n"
    plain = result(app, data=TEXT, tokenizer="", output="plaintext=normalized_spaces")
    assert plain.splitlines()[0] == "Ta kaluma dorpit berodo."
    assert result(app, data=TEXT, input="generic_tokenizer", output="vertical").startswith("Ta\nkaluma\ndorpit\nberodo\n.\n\n")
    presegmented = result(app, data="Ta kaluma\ndorpit berodo.", tokenizer="presegmented;ranges", parser="")
    assert presegmented.count("# sent_id") == 2 and "TokenRange=3:9" in presegmented
    for given in ({"tokenizer": "ranges"}, {"input": "generic_tokenizer=ranges"}):
        assert "TokenRange=4:10" in result(app, data="\ufeffTa\fkaluma", **given)
    assert result(app, data="Ta kaluma\ndorpit berodo.", input="presegmented").count("# sent_id") == 2
    assert 'si="root"' in result(app, data=HORIZONTAL, input="horizontal", parser="", output="matxin")
    ElementTree.fromstring(result(app, data="a\x01b", input="horizontal", parser="", output="matxin"))
    assert result(app, data="", parser="", output="matxin") == ""
    json.loads(result(app, data="a\x01b", input="horizontal", parser="", output="epe"))
    for space in "\f\x85\u2028\ufeff":
        assert result(app, data="Ta%skaluma" % space, input="generic_tokenizer", output="vertical").split() == ["Ta", "kaluma"]


@pytest.mark.parametrize("text", ["Ta kaluma\nTa\n", "Ta\nkaluma\n\nTa\n"])
def test_a_byte_order_mark_and_spaces_in_blank_lines(app, text):
    """A byte order mark is not a word, and blank lines may contain spaces."""
    given = {"input": "horizontal" if " " in text else "vertical", "output": "vertical"}
    assert result(app, data="\ufeff" + text, **given) == result(app, data=text, **given)
    read = result(app, data=text, input=given["input"])
    for ends in (read, read.replace("\n", "\r\n")):
        spaced = "\ufeff" + ends.replace("\r\n\r\n", "\r\n  \r\n").replace("\n\n", "\n  \n")
        assert result(app, data=spaced, output="vertical") == "Ta\nkaluma\n\nTa\n\n"


def test_models_are_found_as_udpipe_finds_them(abilities):
    app = served({"x-big": ["parser"], **abilities})
    assert "no model 'toy-'; did you mean toy? there are x-big, toy, toy-mh3" in refusal(app, 400, data="x", model="toy-")
    assert result(app, data="", model="x") == result(app, data="", model="toy-mh3") == result(app, data="") == ""


def test_pictures(app):
    one, two = (result(app, data=HORIZONTAL[:end], input="horizontal", parser="", output="svg") for end in (24, 99))
    assert ElementTree.fromstring(one).get("class") == "mh4-tree"
    sheet = ElementTree.fromstring(two)
    pictures = list(sheet)
    assert [picture.get("class") for picture in pictures] == ["mh4-tree"] * 2
    assert sheet.get("height") == str(sum(int(picture.get("height")) for picture in pictures))
    assert [picture.get("y") for picture in pictures] == ["0", pictures[0].get("height")]
    assert result(app, data="", parser="", output="svg").startswith("<svg ")


def test_two_models_on_a_page(app):
    status, headers, body = ask(app, "/view", {"data": "<script>x</script> kaluma", "input": "horizontal", "second": "toy-mh3"})
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'self'" in headers["content-security-policy"] and b"<script>x" not in body
    data = json.loads(re.search(rb'id="data">(.*?)</script>', body)[1])
    sentence = data["sentences"][0]
    assert data["names"] == ["toy", "toy-mh3"] and data["probable"]
    assert sentence["words"] == ["<script>x</script>", "kaluma"] and len(sentence["trees"]) == 2


def test_an_enhanced_graph_is_kept_or_left_out(app, models, tmp_path):
    text = "1\tta\t_\tX\t_\t_\t0\troot\t0:root\t_\n1.1\tx\t_\tX\t_\t_\t_\t_\t1:y\t_\n\n"
    for wanted, option in (({}, ()), ({"keep_deps": ""}, ("--keep-deps",))):
        written = result(app, data=text, parser="", **wanted)
        assert written == parsed(tmp_path, text, "--model", str(models / "mst"), *option)
        assert ("1.1" in written) == ("0:root" in written) == bool(wanted)


def test_downloads(app):
    form = {"data": HORIZONTAL.replace("\n", "\r\n"), "input": "horizontal", "second": "toy-mh3"}
    status, headers, body = ask(app, "/download", {**form, "output": "conllu"})
    assert status == 200 and headers["content-disposition"] == 'attachment; filename="trees.conllu"'
    assert body.decode() == result(app, data=HORIZONTAL, input="horizontal", parser="", tagger="", confidence="")
    status, headers, body = ask(app, "/download", {**form, "output": "svg"})
    assert headers["content-type"] == "image/svg+xml" and ElementTree.fromstring(body).tag.endswith("svg")


WORDS = {"data": HORIZONTAL, "input": "horizontal"}


@pytest.mark.parametrize(
    "status, sentence, asked",
    [
        (400, "no parameter data, expected the text or the CoNLL-U to process", {}),
        (400, "no parameter 'confidense'; did you mean confidence? there are data, model, tokenizer, input, tagger, parser, confidence, "
         "heads, keep_deps, best, output, second", {"data": "x", "confidense": ""}),
        (400, "no model '../mst'; there are toy, toy-mh3", {"data": "x", "model": "../mst"}),
        (400, "data, line 1, sentence 1: 2 columns, expected 10 separated by tabs", {"data": "1\tx\n", "parser": ""}),
        (400, "the model toy-mh3 has no tokenizer", {"data": "x", "tokenizer": "", "model": "toy-mh3"}),
        (400, "input is '/etc/passwd', expected one of: conllu, horiz", {"data": "x", "input": "/etc/passwd"}),
        (400, "output is 'html\\x1b[0m', expected one of: conllu, ", {"data": "x", "output": "html\x1b[0m"}),
        (400, "data: a character NUL, expected text", {"data": "a\0b", "tokenizer": ""}),
        *((400, "%s needs parser" % name, {**WORDS, name: ""}) for name in ("confidence", "keep_deps")),
        (400, "best needs parser", {**WORDS, "best": "2"}),
        *((400, "output %s needs parser" % name, {**WORDS, "output": name}) for name in ("svg", "matxin")),
        (400, "data, line 1, sentence 1: word 2 is on a cycle", {"data": rows(0, 3, 2), "parser": "", "heads": "", "output": "matxin"}),
        (400, "data, line 1, sentence 1: HEAD is '-1', expected", {"data": rows(-1), "output": "vertical"}),
        *((400, "best needs output conllu", {**WORDS, "parser": "", "best": "2", "output": output}) for output in ("svg", "vertical")),
        *((400, "best is %s, expected a number from 1 to 1000" % shown(value), {**WORDS, "parser": "", "best": value})
          for value in ("0", "-1", "1001", "00", "x", "1e2", "٣", "")),
        (400, "heads needs parser and input conllu", {**WORDS, "parser": "", "heads": ""}),
        (400, "heads needs parser and input conllu", {"data": "", "heads": ""}),
        (400, "heads is '3', expected no value, or none", {"data": "", "parser": "", "heads": "3"}),
        (400, "data, line 1, sentence 1: HEAD is 9, but the last word is 1", {"data": rows(9), "parser": "", "heads": ""}),
        (400, "second needs output page", {"data": "x", "second": "toy-mh3", "parser": ""}),
        (413, "more than 100 words", {"data": "ta " * 101, "input": "horizontal", "parser": ""}),
        (413, "more than 20 words, which is the most that one request may have with best=5: send several",
         {"data": "ta " * 21, "input": "horizontal", "parser": "", "best": "5"}),
        (413, "a request may have up to 65536 bytes", {"data": "x" * 70_000}),
        (404, "there is nothing at this address", {"path": "/process/", "data": "x"}),
        (405, "this address does not take this method", {"path": "/models", "data": "x"}),
        (405, "this address does not take this method", {"path": "/", "data": "x"}),
        (400, "no model '<i>'; there are toy, toy-mh3", {"path": "/view", "data": "<b>", "model": "<i>"}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(app, status, sentence, asked):
    assert refusal(app, status, **asked).startswith(sentence)


@pytest.mark.parametrize(
    "path, name, value",
    [
        *(("/process", name, value) for name in ("tagger", "parser", "confidence") for value in ("no", "false", "0", "yes", " ")),
        *(("/process", "input", value) for value in ("", "nonsense", "conllu=v1", "horizontal=x", "vertical=paragraphs", "text=x")),
        *(("/process", "output", value) for value in ("", "nonsense", "conllu=v1", "vertical=x", "matxin=x", "svg=x", "page=x")),
        *(("/process", "tokenizer", value) for value in ("nonsense", "ranges=no", "ranges;x")),
        ("/process", "input", "generic_tokenizer=ranges;x"), ("/process", "model", "nonsense"), ("/process", "second", "nonsense"),
        *(("/view", name, "none") for name in ("tagger", "parser", "confidence")), ("/view", "output", "svg"),
        ("/download", "output", "vertical"), ("/download", "second", "nonsense"), ("/download", "confidence", "no"),
    ],
)  # fmt: skip
def test_values_that_parameters_do_not_have(app, path, name, value):
    assert shown(value) in refusal(app, 400, path, **{"data": TEXT, "input": "text", "parser": "", name: value})


@pytest.mark.parametrize(
    "error, status, sentence",
    [
        (Busy(), 503, "too many requests are waiting: try again later"),
        (TooLong(), 504, "this took more than 60 seconds: send fewer or shorter sentences"),
        *((error, 500, "the process that parses was killed, perhaps because memory ran out: send shorter sentences")
          for error in (Killed(), MemoryError())),
        (OutOfMemory("data, line 1: not enough memory"), 413, "data, line 1: not enough memory"),
    ],
)  # fmt: skip
def test_what_goes_wrong(abilities, error, status, sentence):
    app = served(abilities, error)
    assert refusal(app, status, data="x", input="horizontal", parser="") == sentence
    _, headers, _ = ask(app, "/process", {"data": "x"})
    assert ("retry-after" in headers) == (status == 503)
    counts = ask(app, "/metrics")[2].decode()
    assert 'mh4_requests_total{path="/process",status="%d"} 2.0' % status in counts


def test_a_model_that_has_changed(models, tmp_path):
    """A process that starts later does not load a model that has changed since."""
    folder, now = tmp_path / "model", {"changing": (str(tmp_path / "model"), None)}
    shutil.copytree(models / "mst", folder)
    expected = answering.checksums_of(now.values())
    assert list(answering.load(now, expected)) == ["changing"]
    shutil.copytree(models / "mh3", folder, dirs_exist_ok=True)
    with pytest.raises(InputError, match="a model or segmenter has changed since the server was started: start it again"):
        answering.load(now, expected)


def test_metrics_and_health(abilities):
    app = served(abilities)
    result(app, data=HORIZONTAL, input="horizontal", parser="")
    ask(app, "/" + "x" * 1000)
    counts = ask(app, "/metrics")[2].decode()
    for line in (
        'mh4_words_total{model="toy"} 9.0', 'mh4_sentences_total{model="toy"} 2.0', "mh4_workers 1.0",
        'mh4_requests_total{path="/process",status="200"} 1.0', 'mh4_requests_total{path="other",status="404"} 1.0',
    ):  # fmt: skip
        assert line in counts.splitlines()
    assert json.loads(ask(app, "/health")[2])["status"] == "ok"


HERE = socket.gethostname()
ADDRESSES = ["localhost", "LOCALHOST:80", "localhost.", "localhost.:80", "127.0.0.1:8080", "[::1]:8080"]
OTHERS = "evil.example evil.example:8080 127.0.0.1.evil.example localhost@evil.example [::1].evil localhost.. .".split()
OTHERS += ["", " "]


@pytest.mark.parametrize(
    "address, host, more, names, strangers",
    [
        ("127.0.0.1", "127.0.0.1", [], ADDRESSES, [*OTHERS, "192.0.2.1", HERE]),
        ("127.0.0.1", "localhost", ["Tree.example."], ["tree.example:80", *ADDRESSES], [*OTHERS, "tree"]),
        ("::1", "::1", [], ADDRESSES, OTHERS),
        ("127.0.0.2", "127.0.0.2", [], ["127.0.0.2", *ADDRESSES], OTHERS),
        ("0.0.0.0", "0.0.0.0", ["tree.example"], ["tree.example", "192.0.2.1:1", "[2001:db8::1]", HERE, *ADDRESSES], OTHERS),
        ("192.0.2.1", "parser.example", [], ["parser.example", "192.0.2.1"], OTHERS),
    ],
)  # fmt: skip
def test_names_of_the_server(address, host, more, names, strangers):
    hosts = Hosts(address, host, more)
    assert [name for name in names if not hosts.has(name)] == [name for name in strangers if hosts.has(name)] == []
    assert not hosts.has(None)


@pytest.mark.parametrize("name", ["tree.example:8080", "http://tree.example", "tree.example/", "bäume.example", " ", ""])
def test_what_is_no_name_of_a_server(name):
    with pytest.raises(InputError, match=re.escape("--host-name %r: expected a name" % name)):
        Hosts("127.0.0.1", "127.0.0.1", [name])


def test_a_request_without_a_name(app):
    """A Host header is optional in HTTP/1.0, which no browser uses for a foreign page, and required in HTTP/1.1."""
    assert [ask(app, "/models", host="", version=version)[0] for version in ("1.0", "1.1")] == [200, 421]


def test_an_address_with_the_name_of_the_server(app):
    """An absolute address overrides the Host header."""
    assert ask(app, "http://localhost:8080/models", host="evil.example")[0] == 200
    assert ask(app, "HTTP://localhost")[1]["content-type"].startswith("text/html")
    assert ask(app, "http://evil.example/models")[0] == 421


@pytest.mark.parametrize("path", ["/", "/models", "/process", "/view", "/metrics", "/health", "/nothing"])
def test_a_page_from_elsewhere_reads_nothing(app, path):
    """A foreign page reads no answer, neither under a name that resolves to this server nor across origins."""
    status, headers, body = ask(app, path, host="evil.example:8080", query=b"data=&parser=")
    assert (status, body) == (421, b"this server has no name 'evil.example:8080'; to add it, start it with --host-name\n")
    assert not [name for name in ask(app, path)[1] if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/process", "/view", "/download"])
def test_a_page_from_elsewhere_has_nothing_parsed(app, path):
    """Forms and links of a foreign page, which browsers send without showing it the answers, are rejected."""
    for site, expected in ((b"cross-site", 403), (b"same-site", 403), (b"same-origin", 200), (b"none", 200)):
        more = [(b"sec-fetch-site", site)]
        status, _, body = ask(app, path, query=b"data=ta&input=horizontal&parser=", more=more)
        assert status == expected
        assert (body == b"a page from elsewhere cannot have anything parsed\n") == (status == 403)


@pytest.mark.parametrize("path, number", [("/", 2), ("/annotate", 5)])
def test_the_pages_load_nothing_from_elsewhere(app, path, number):
    """Each page has a policy that forbids it, no script or style in its text, and this number of files of the server."""
    status, headers, body = ask(app, path)
    assert status == 200 and "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert b"<script>" not in body and b"style=" not in body and b"<option>toy-mh3</option>" in body
    files = set(re.findall(rb'(?:src|href)="([^"]*)"', body)) - {b"data:,", b"#", b"./", b"annotate"}
    assert len(files) == number
    for name in map(bytes.decode, files):
        status, headers, body = ask(app, "/" + name)
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        assert status == 200 and headers["content-type"].startswith(kind)
        assert b"http://" not in re.sub(rb"http://(www.w3.org/2000/svg|localhost)", b"", body)
