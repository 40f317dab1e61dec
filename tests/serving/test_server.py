"""A running server: clients of other projects, and clients that are slow, broken or too many."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import pytest
import toy
from asking import running, serving
from many_clients import documents, load
from running import refuses, succeeds, wait_for
from udapi.core.root import Root
from udapi.tool.udpipeonline import UDPipeOnline

from mh4.cli import serve
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser import config
from mh4.parser.model import Model
from mh4.parser.vocabulary import Vocabulary
from mh4.serving import server as module
from mh4.util.processes import Killed

pytestmark = pytest.mark.slow

TEXT = "Ta kaluma dorpit berodo. Ta kaluma dorpit."
SECONDS = 60  # the time limit for an event on a busy machine
REQUEST = b"GET /process?input=horizontal&parser&data=ta HTTP/1.1\r\nHost: localhost\r\n\r\n"
refused = partial(refuses, "serve")


@pytest.fixture(scope="module")
def hurried(of_both, tmp_path_factory):
    """A server with a short time limit."""
    with serving(tmp_path_factory.mktemp("hurried"), of_both, "--timeout", "1", "--max-words", "50") as server:
        yield server


def test_udapi_is_a_client(server):
    client = UDPipeOnline("toy", server.address)
    assert client.list_models() == ["toy", "toy-mh3"]
    assert client.segment_text(TEXT) == ["Ta kaluma dorpit berodo.", "Ta kaluma dorpit."]
    asked = {"model": "toy", "data": TEXT, "tokenizer": "", "tagger": "", "parser": ""}
    assert client.perform_request(asked) == server.process_text(**asked)
    root = Root()
    for form in ("Ta", "kaluma", "dorpit", "."):
        root.create_child(form=form)
    client.tag_parse_tree(root)
    expected = server.process_text(data="Ta kaluma dorpit .", input="horizontal", tagger="", parser="")
    rows = [line.split("\t") for line in expected.splitlines() if line and line[0] != "#"]
    found = [[str(node.parent.ord), node.deprel, node.upos] for node in root.descendants]
    assert found == [[row[6], row[7], row[3]] for row in rows]


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl")
def test_the_commands_of_the_manual_of_udpipe(server, tmp_path):
    """https://lindat.mff.cuni.cz/services/udpipe/api-reference.php"""
    file = tmp_path / "input_file.txt"
    file.write_text(TEXT + "\n", encoding="utf-8")

    def curl(*arguments):
        done = subprocess.run(["curl", "-sS", "--max-time", "60", *arguments], capture_output=True, check=True)
        return json.loads(done.stdout)["result"]

    address = server.address + "/process"
    parsed = server.process_text(data=TEXT, tokenizer="", tagger="", parser="")
    assert curl("--data", "tokenizer=&tagger=&parser=&data=" + TEXT, address) == parsed
    assert curl(address + "?tokenizer&tagger&parser&data=" + TEXT.replace(" ", "%20")) == parsed
    of_file = server.process_text(data=TEXT + "\n", tokenizer="", tagger="", parser="")
    forms = ["-F", "data=@%s" % file, "-F", "tokenizer=", "-F", "tagger=", "-F", "parser="]
    assert curl(*forms, address) == curl(*forms, "-F", "model=toy", address) == of_file


def test_a_model_without_a_name(models, tmp_path):
    """A model without a name has the name of its folder, and the only segmenter."""
    arguments = ["serve", "--port", "0", "--model", str(models / "mst"), "--segmenter", str(models / "segmenter")]
    with running(tmp_path, arguments) as server:
        can = {"mst": ["tokenizer", "tagger", "parser"]}
        assert json.loads(server.get("/models")[1]) == {"models": can, "default_model": "mst"}


def test_many_clients(of_both, models, tmp_path):
    """No answer is lost or mixed up, although processes are killed."""
    rng = random.Random(1)
    pairs = documents(models / "toy-ud-test.conllu", tmp_path, models / "mst", 20, rng)
    with serving(tmp_path, of_both, "--workers", "2") as server:
        assert load(server, pairs, 200, 20, 2, rng) == (200, 200)
        assert 3 <= json.loads(server.get("/health")[1])["started"] <= 4
        requests = [entry for entry in server.log() if entry["event"] == "request"]
        assert {entry["status"] for entry in requests if entry["path"] == "/process"} == {200}
        assert "kaluma" not in server.log_file.read_text()


def address(server):
    host, port = server.address.removeprefix("http://").split(":")
    return host, int(port)


def exchange(server, *parts, end=False):
    """Send bytes with pauses; return the bytes received until the server closes the connection."""
    with socket.create_connection(address(server), timeout=SECONDS) as connection:
        for k, part in enumerate(parts):
            time.sleep(0.3 if k else 0)
            connection.sendall(part)
        if end:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while data := connection.recv(1 << 16):
            received += data
    return received


POST = b"POST /process HTTP/1.1\r\nHost: localhost\r\n"
HEAD = POST + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\n"
CHUNKED = POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3ffff\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


def test_slow_and_broken_clients(hurried):
    """Slow and broken clients, all at once, are rejected and delay no other client."""
    late, bad, too_large = (b"HTTP/1.1 %s\r\n" % status for status in (b"408 Request Timeout", b"400 Bad Request", b"413 "))
    long = b"GET /process?data=" + b"x" * 10**5 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    cases = [
        (late, []),  # a silent client
        (late, [b"GET /models HT"]),
        (late, [b"GET / HTTP/1.1\r\nA: b\r\n"] * 5),
        (late, [HEAD, b"data="]),
        (bad, [b"\x00\xff\r\n\r\n"]),
        (bad, [b"GET /" + b"x" * 2**18]),
        *((b"HTTP/1.1 414 ", [long[:start], long[start:]]) for start in (1000, 70_000)),
        (bad, [b"\x16\x03\x01\x02\x00" * 20 + b"\r\n\r\n"]),
        (b"HTTP/1.1 200 OK\r\n", [HEALTH + b"Connection: upgrade, close\r\nUpgrade: websocket\r\n\r\n"]),
        (too_large[:-2], [CHUNKED + b"x" * 0x3FFFF + b"\r\n0\r\n\r\n"]),
    ]
    with ThreadPoolExecutor(len(cases)) as threads:
        answers = [threads.submit(exchange, hurried, *parts) for _, parts in cases]
        assert hurried.get("/health")[0] == 200
    for (expected, parts), answer in zip(cases, answers):
        assert answer.result().startswith(expected), parts
    answers = exchange(hurried, HEALTH + b"\r\n", b"GET /models HT")  # by the same connection
    assert answers.startswith(b"HTTP/1.1 200 OK\r\n") and late in answers
    assert exchange(hurried, HEALTH + b"\r\n").count(b"HTTP/1.1") == 1
    assert "pgrade" not in hurried.log_file.read_text()
    assert exchange(hurried, HEAD, b"data=", end=True) == b""  # the body is shorter than announced
    assert hurried.get("/process", b"data=" + b"x" * 500_000)[0] == 413


@pytest.mark.parametrize("path, status", [(b"/process", b"400 Bad Request"), (b"/models", b"405 Method Not Allowed")])
def test_a_body_of_countless_chunks(server, path, status):
    """A body of too many chunks ends the connection, also after the answer; the log has no traceback."""
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % path
    answer = exchange(server, head, b"1\r\nx\r\n" * 2**15 + b"1\r\nx")
    assert answer.startswith(b"HTTP/1.1 %s\r\n" % status) and answer.count(b"HTTP/1.1") == 1
    assert (b"\nthe request has more than 32768 chunks: send longer ones\n" in answer) == (path == b"/process")
    assert not [line for line in server.log() if "traceback" in line]


def test_a_client_that_takes_nothing(hurried):
    """A client that receives nothing delays no other client, and its connection is closed."""
    request = b"GET /view?input=horizontal&data=%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % b"+".join([b"kaluma"] * 50)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(address(hurried))
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            assert hurried.get("/health")[0] == 200
            try:
                for _ in range(20):
                    connection.send(request, socket.MSG_DONTWAIT)
            except BlockingIOError:
                time.sleep(0.05)
            except ConnectionError:
                return
    pytest.fail("the connection is still there")


def test_idle_connections_do_not_use_up_the_files(of_both, tmp_path):
    """With more connections than files allowed, the log stays short, and the next client is answered."""
    with serving(tmp_path, {"toy": of_both["toy"]}, files=700) as server:
        clients = []
        try:
            for _ in range(900):
                clients.append(socket.create_connection(address(server), timeout=SECONDS))
            assert server.get("/health")[0] in (None, 503)  # there are too many
            time.sleep(1)
        finally:
            for client in clients:
                client.close()
        wait_for(lambda: server.get("/health")[0] == 200)
        assert [entry["event"] for entry in server.log()][0] == "started"
        assert {entry["event"] for entry in server.log()} <= {"started", "request"} and len(server.log()) < 2000


def test_a_client_that_goes(hurried):
    before = len(gone(hurried))
    (child,) = hurried.children()
    os.kill(child, signal.SIGSTOP)
    with socket.create_connection(address(hurried)) as connection:
        connection.sendall(REQUEST)
    wait_for(lambda: len(gone(hurried)) > before)
    os.kill(child, signal.SIGCONT)
    assert len(gone(hurried)) == before + 1
    wait_for(lambda: not busy(hurried))


def gone(server):
    """Return the requests whose clients have gone."""
    return [entry for entry in server.log() if entry["event"] == "request" and entry["status"] == 499]


def busy(server):
    return json.loads(server.get("/health")[1])["busy"]


def test_what_takes_too_long_is_ended(hurried):
    """A request that takes too long is ended with its process; later requests are parsed as before."""
    status, body = hurried.get("/process", b"input=horizontal&parser=&data=" + b"a+" * 51)
    assert (status, body) == (413, b"more than 50 words, which is the most that one request may have: send several\n")
    (child,) = hurried.children()
    os.kill(child, signal.SIGSTOP)  # as if it were busy
    status, body = hurried.get("/process", b"input=horizontal&parser=&data=a+b")
    assert (status, body) == (504, b"this took more than 1 second: send fewer or shorter sentences\n")
    wait_for(lambda: not busy(hurried))
    assert hurried.process_text(data="a b", input="horizontal", parser="").count("\n1\ta\t") == 1
    assert hurried.children() != [child]


@contextmanager
def request_in_flight(server, child):
    """Stop this child; yield the connection of a request that waits for it."""
    os.kill(child, signal.SIGSTOP)
    with socket.create_connection(address(server), timeout=SECONDS) as connection:
        connection.sendall(REQUEST)
        wait_for(lambda: busy(server))
        yield connection


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_end_is_graceful(of_both, tmp_path, number, ending_signals):
    """A signal ends the server and its processes after requests that have begun are answered."""
    with serving(tmp_path, of_both) as server:
        (child,) = server.children()
        with request_in_flight(server, child) as connection:
            server.process.send_signal(number)
            time.sleep(0.5)
            os.kill(child, signal.SIGCONT)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
        assert server.process.wait(SECONDS) == 0 and server.process.stdout.read() == b""
        assert server.log()[-1]["event"] == "ended"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_second_signal_ends_it_at_once(of_both, tmp_path, ending_signals):
    """A second signal ends the server at once: pending requests get status 503, and the log has no traceback."""
    with serving(tmp_path, of_both) as server:
        (child,) = server.children()
        with request_in_flight(server, child) as connection:
            for _ in range(2):
                server.process.send_signal(signal.SIGINT)
                time.sleep(0.5)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 503 ")
        assert server.process.wait(SECONDS) == 0 and server.process.stdout.read() == b""
        assert {line["level"] for line in server.log()} == {"info"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_as_soon_as_it_is_ready(of_both, number, ending_signals):
    program = "import signal; from mh4.serving.app import Limits; from mh4.serving.server import serve; "
    program += "serve(%r, '127.0.0.1', 0, 1, Limits(), lambda address: signal.raise_signal(%d))" % (of_both, number)
    done = subprocess.run([sys.executable, "-c", program], cwd=toy.ROOT, capture_output=True, timeout=SECONDS, check=True)
    assert json.loads(done.stderr.splitlines()[-1])["event"] == "ended"


LOADING = """
import contextlib, os, signal, sys
from mh4.serving import queue
from mh4.serving.app import Limits
from mh4.serving.server import serve

class Child(queue.Child):
    def call(self, *what):
        os.kill(os.getpid(), signal.SIGINT)
        return super().call(*what)

    def kill(self):
        os.kill(os.getpid(), signal.SIGINT)
        super().kill()

queue.Child = Child
with contextlib.suppress(KeyboardInterrupt):
    serve({"x": (sys.argv[1], None)}, "127.0.0.1", 0, 1, Limits(), print)
"""


def test_two_signals_while_models_are_loaded(models):
    command = [sys.executable, "-c", LOADING, str(models / "mst")]
    done = subprocess.run(command, cwd=toy.ROOT, capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_processes_that_are_killed_while_models_are_loaded(monkeypatch):
    async def start(workers):
        raise Killed

    monkeypatch.setattr(module.Workers, "start", start)
    with pytest.raises(InputError, match="^a process that loads the models was killed, perhaps because memory ran out"):
        module.serve({}, "127.0.0.1", 0, 1, module.Limits(), print)


def test_a_new_file_that_exists_is_replaced_only_if_the_user_says_so(models, tmp_path, monkeypatch):
    new, answers = tmp_path / "new.conllu", []
    new.write_text("mine")
    monkeypatch.setattr(serve, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    monkeypatch.setattr(serve.click, "confirm", lambda *question, err: answers.pop())
    monkeypatch.setattr("mh4.serving.server.serve", lambda *arguments: arguments[-1].save(*arguments[-1].read()))
    arguments = ["--model", str(models / "mst"), str(models / "toy-ud-dev.conllu"), "-o", str(new)]
    answers.append(False)
    assert refused(*arguments) == "mh4: %s exists: name a new file" % new and new.read_text() == "mine"
    answers.append(True)
    succeeds("serve", *arguments)
    assert new.read_text() == (models / "toy-ud-dev.conllu").read_text()


def test_what_cannot_be_served(models, tmp_path):
    model, segmenter = "toy=%s" % (models / "mst"), "toy=%s" % (models / "segmenter")
    assert "none" in refused("--model", "x=none", "--port", "0")
    assert refused("--model", "/") == "mh4: --model /: expected NAME=DIR, as '' is no name of letters, digits, _, - and ."
    assert "mh4: --segmenter x: expected NAME=FILE, as " in refused("--model", model, "--model", "mh3", "--segmenter", "x")
    assert refused("--model", "toy", "--model", "x/../toy/") == "mh4: --model: a name is given twice"
    assert "'../x=y': expected NAME=PATH" in refused("--model", "../x=y")
    assert refused("--model", model, "--model", model) == "mh4: --model: a name is given twice"
    assert refused("--model", model, "--segmenter", "x=y") == "mh4: --segmenter x: no --model of this name"
    assert "damaged, or not a segmenter" in refused("--port", "0", "--model", model, "--segmenter", "toy=%s" % __file__)
    settings = config.with_settings(toy.SMALL, ["encoder.contextual=3"])
    Model("mst", settings, Vocabulary.of([Sentence(["a"], ["X"], ["X"], ["X"], ["root"])], settings), 1).save(str(tmp_path))
    assert "mh4: %s needs contextual vectors" % tmp_path in refused("--model", "x=%s" % tmp_path, "--port", "0")
    assert "(ulimit -Hn): raise that limit, or" in refused("--port", "0", "--model", model, "--queue", str(10**9))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        message = refused("--model", model, "--segmenter", segmenter, "--port", port)
        assert message == "mh4: cannot listen to 127.0.0.1, port %s: Address already in use" % port
    assert "no-such-host.invalid" in refused("--model", model, "--host", "no-such-host.invalid")
    assert refused("--model", model, "--timeout", "nan") == "mh4: --timeout nan: expected a number of seconds"
    assert "--host is empty" in refused("--model", model, "--host", "")
    old, new = str(models / "toy-ud-dev.conllu"), tmp_path / "new.conllu"
    for arguments, said in (
        ([old], "%s: expected FILE and -o NEW, or neither" % old),
        (["-o", str(new)], "-o %s: expected FILE and -o NEW, or neither" % new),
        ([old, "-o", old], "%s would overwrite %s, which is read: choose another output" % (old, old)),
        ([old, "-o", __file__], "%s exists: name a new file" % __file__),
        ([old, "-o", str(new), "--host", "0.0.0.0"], "--host 0.0.0.0: %s can be corrected on this machine only" % old),
        ([__file__, "-o", str(new)], "%s, line 1, sentence 1: 1 column, expected 10 separated by tabs" % __file__),
    ):
        assert refused("--model", model, "--port", "0", *arguments).startswith("mh4: " + said) and not new.exists()


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "python_multipart", "prometheus_client"])
def test_what_is_not_installed(package, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("mh4.serving") or name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert refused("--model", "x=y").partition("which is not installed: ")[2].startswith("pip install 'starlette>=")
