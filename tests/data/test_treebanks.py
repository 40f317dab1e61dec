"""Fetch treebanks and outputs of the shared task from a local server that misbehaves on request."""

import errno
import gzip
import io
import multiprocessing
import os
import re
import resource
import shutil
import signal
import socket
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from running import refuses, succeeds, wait_for
from tiny import blob_id

from mh4 import cli
from mh4.data import conll17, treebanks
from mh4.errors import InputError
from mh4.util import fetching, files
from mh4.util.files import git_blob_id

CONTENT = "".join("%d\tszó\t_\t_\t_\t_\t0\troot\t_\t_\n\n" % i for i in range(20000)).encode("utf-8")
ROW = treebanks.ManifestRow("hu", "UD_Hungarian-Szeged", "train", "r2.0", "hu-ud-train.conllu", blob_id(CONTENT), "2.0")
TEST_ROW = ROW._replace(split="test", tag="r2.0-test", file="hu-ud-test.conllu")
OUTPUT = conll17.Output(
    "hu", "c2l2", "o/r", "0123abc", "runs/task/C2L2/2017-05-12/output/hu.conllu", "hu-c2l2.conllu", blob_id(CONTENT)
)
ARCHIVE = "/11234/1-1983/ud-treebanks-v2.0.tgz"
ADDRESS = "/UD_Hungarian-Szeged/r2.0/hu-ud-train.conllu"


class Server(ThreadingHTTPServer):
    """A server of `files` that drops the connections of the next requests after `cuts` bytes.

    pause: seconds between the parts of a file. answers: by path, functions that write a whole answer, headers included.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cuts, self.statuses, self.ranges, self.seen = {}, [], [], True, []
        self.pause, self.answers = 0.0, {}
        self.url = "http://127.0.0.1:%d" % self.server_port


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.seen.append(wanted)
        if server.statuses:
            return self.send_error(server.statuses.pop(0))
        if self.path in server.answers:
            return server.answers[self.path](self.wfile.write)
        if self.path not in server.files:
            return self.send_error(404)
        content, start = server.files[self.path], 0
        if wanted and server.ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted).group(1))
            if start >= len(content):
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(content) - 1, len(content)))
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        content = content[start:][: server.cuts.pop(0) if server.cuts else None]
        step = 10000 if server.pause else len(content) or 1
        for place in range(0, len(content), step):
            self.wfile.write(content[place : place + step])
            time.sleep(server.pause)

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # the client hung up
            pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "WAITS", (0, 0))
    monkeypatch.setattr(treebanks, "manifest", lambda: (ROW, TEST_ROW))
    monkeypatch.setattr(
        conll17, "manifest", lambda: tuple(OUTPUT._replace(system=s, file="hu-%s.conllu" % s) for s in conll17.SYSTEMS)
    )
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("MH4_DATA_SOURCE", raising=False)
    server = Server()
    monkeypatch.setenv("MH4_DATA_URL", server.url)
    server.files[ADDRESS] = CONTENT
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def answering(*parts, end=b"", pause=0.0):
    """Return an answer of these parts, followed by endless repetitions of `end`."""

    def answer(write):
        for part in parts:
            write(part)
        while end:
            write(end)
            time.sleep(pause)

    return answer


def fetch(folder, **options):
    return treebanks.locate("hu", to=str(folder), **{"splits": ["train"], **options})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_good_file(server, tmp_path, capfd):
    paths = fetch(tmp_path / "new" / "folder")
    assert paths == {"train": tmp_path / "new" / "folder" / "hu-ud-train.conllu"}
    assert paths["train"].read_bytes() == CONTENT
    assert names(paths["train"].parent) == ["hu-ud-train.conllu"]
    assert fetch(paths["train"].parent) == paths
    assert server.seen == [None]  # the second call fetched nothing
    assert capfd.readouterr() == ("", "")  # quiet when not a terminal


def test_the_source_can_come_from_the_environment(server, tmp_path, monkeypatch):
    server.files[ARCHIVE] = archive({"a/hu-ud-train.conllu": CONTENT})
    monkeypatch.setenv("MH4_DATA_SOURCE", "lindat")
    fetch(tmp_path)
    assert names(tmp_path) == ["hu-ud-train.conllu", "ud-treebanks-v2.0.tgz"]
    fetch(tmp_path / "other", source="github")  # an argument overrides the environment
    assert names(tmp_path / "other") == ["hu-ud-train.conllu"]


def test_a_corrupted_file(server, tmp_path):
    server.files[ADDRESS] = CONTENT.replace(b"root", b"ruut")
    with pytest.raises(InputError) as error:
        fetch(tmp_path)
    assert blob_id(server.files[ADDRESS]) in str(error.value)
    assert ROW.git_blob_sha1 in str(error.value)
    assert names(tmp_path) == []


def test_a_server_in_trouble_is_asked_again(server, tmp_path):
    server.statuses = [503, 429]
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT
    server.statuses = [500] * 3
    with pytest.raises(InputError, match="500"):
        fetch(tmp_path / "other")
    assert not (tmp_path / "other").exists()


PAUSES = {"120": 120, "-1": 0, "soon": 0, None: 0, "Wed, 21 Oct 2015 07:28:00 GMT": 0, "Wed, 21 Oct 2099 07:28:00 GMT": 1e9}


@pytest.mark.parametrize("value, seconds", PAUSES.items())
def test_the_pause_a_server_asks_for(value, seconds):
    assert max(0, min(fetching._pause(value), 1e9)) == seconds


def too_many(seconds):
    return answering(b"HTTP/1.0 429 Too Many Requests\r\nRetry-After: %d\r\n\r\n" % seconds)


def test_a_short_pause_is_kept(server, tmp_path, monkeypatch, capsys):
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        server.answers.clear()

    monkeypatch.setattr(fetching.time, "sleep", sleep)
    server.answers[ADDRESS] = too_many(40)
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT
    assert waited[0] == 40 and "hu-ud-train.conllu: waiting 40 seconds, as the server asks" in capsys.readouterr().err


@pytest.fixture
def both(server, monkeypatch):
    """A server that stands in for GitHub and for LINDAT, without a mirror."""
    monkeypatch.delenv("MH4_DATA_URL")
    sources = {name: source._replace(address=server.url) for name, source in treebanks.SOURCES.items()}
    monkeypatch.setattr(treebanks._COLLECTION, "_sources", sources)
    server.files[ARCHIVE] = archive({"a/hu-ud-train.conllu": CONTENT})
    return server


@pytest.mark.parametrize("answer", [too_many(3000), answering(b"HTTP/1.0 404 \x1b[31m\r\n\r\n")], ids=["pause", "404"])
def test_the_other_source_is_tried(both, tmp_path, capsys, answer):
    """If the first source fails, the second is tried; its archive is kept and used first from then on."""
    both.answers[ADDRESS] = answer
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT
    said = capsys.readouterr().err
    assert re.search(r"the server answered 4.*; fetching http.*%s instead\n$" % ARCHIVE, said) and said.count("\n") == 1
    assert "\x1b" not in said
    assert ("asks to wait 50 minutes" in said) == ("answered 429" in said)  # "429" alone may be part of the port
    (tmp_path / "hu-ud-train.conllu").unlink()
    del both.seen[:]
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT and both.seen == []


@pytest.mark.parametrize("source", [None, "github"])
def test_no_source_has_it(both, tmp_path, source):
    """If every source fails, the message says what the user can do, and no new folder remains."""
    both.answers[ADDRESS] = too_many(3000)
    del both.files[ARCHIVE]
    with pytest.raises(InputError) as error:
        fetch(tmp_path / "new" / "folder", source=source)
    assert "answered 429" in str(error.value) and "--ud FOLDER, with make UD=FOLDER" in str(error.value)
    assert ("answered 404" in str(error.value)) == (source is None)
    assert ("SOURCE: github or lindat" in str(error.value)) == (source is not None)
    assert names(tmp_path) == []


def test_a_cut_connection_is_resumed_at_once(server, tmp_path):
    server.cuts = [100000, 200000]
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT
    assert server.seen == [None, "bytes=100000-", "bytes=300000-"]
    assert names(tmp_path) == ["hu-ud-train.conllu"]


def test_no_network(server, tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % free.getsockname()[1]
    for url, message in (
        ("http://" + address, "no connection to " + address),
        ("http://mh4.invalid", "no connection to mh4.invalid"),
        ("nowhere", "cannot be fetched .*: check the address and the proxy"),
    ):
        monkeypatch.setenv("MH4_DATA_URL", url)
        with pytest.raises(InputError, match=message):
            fetch(tmp_path)
    assert names(tmp_path) == []


def test_another_file_of_that_name_is_left_alone(server, tmp_path):
    (tmp_path / "hu-ud-train.conllu").write_text("mine")
    with pytest.raises(InputError, match="move it away"):
        fetch(tmp_path)
    assert (tmp_path / "hu-ud-train.conllu").read_text() == "mine"


# Malformed answers


OK = b"HTTP/1.0 200 OK\r\n"
MANY = 300_000


@pytest.mark.parametrize(
    "length", [b"many", b"-1", b"-99999999999999999999", b"", b"0x10", b"1e9", b"\xff", pytest.param(b"9" * 5000, id="digits")]
)
def test_a_length_that_is_none(server, tmp_path, length):
    """An invalid Content-Length is ignored."""
    server.answers[ADDRESS] = answering(OK + b"Content-Length: " + length + b"\r\n\r\n", CONTENT)
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT


def test_a_length_that_is_wrong(server, tmp_path):
    server.answers[ADDRESS] = answering(OK + b"Content-Length: %d\r\n\r\n" % (len(CONTENT) + 1), CONTENT)
    with pytest.raises(InputError, match="cut after %d bytes" % len(CONTENT)):
        fetch(tmp_path)
    server.answers[ADDRESS] = answering(OK + b"Content-Length: 100\r\n\r\n", CONTENT)
    with pytest.raises(InputError, match="does not contain hu-ud-train.conllu of UD 2.0"):
        fetch(tmp_path)
    server.answers[ADDRESS] = answering(OK + b"Content-Length: 10000000000000000000000\r\n\r\n", CONTENT)
    with pytest.raises(InputError, match="has more than 200000000 bytes"):
        fetch(tmp_path)
    assert names(tmp_path) == []
    del server.answers[ADDRESS]
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT


@pytest.mark.parametrize("source, limit, path", [("github", "FILE", ADDRESS), ("lindat", "ARCHIVE", ARCHIVE)])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_server_that_sends_forever(server, tmp_path, monkeypatch, source, limit, path, chunked):
    monkeypatch.setattr(fetching, limit, MANY)
    kind = OK.replace(b"1.0", b"1.1") + b"Transfer-Encoding: chunked\r\n\r\n" if chunked else OK + b"\r\n"
    server.answers[path] = answering(kind, end=b"8\r\n1\tszo\t_\n\r\n" * 1000)
    with pytest.raises(InputError, match="has more than %d bytes" % MANY):
        fetch(tmp_path, source=source)
    assert names(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("headers", [b"", b"Content-Length: 1000\r\n"])
def test_a_server_that_is_too_slow(server, tmp_path, monkeypatch, headers):
    monkeypatch.setattr(fetching, "PATIENCE", 0.2)
    server.answers[ADDRESS] = answering(OK + headers + b"\r\n", end=b"0", pause=0.02)
    with pytest.raises(InputError, match="too slow"):
        fetch(tmp_path)


@pytest.mark.parametrize("headers", [b"", OK, OK + b"\r\n", OK + b"Content-Length: 1000\r\n\r\nbegun"])
def test_a_server_that_falls_silent(server, tmp_path, monkeypatch, headers):
    monkeypatch.setattr(fetching, "TIMEOUT", 0.1)
    done = threading.Event()
    server.answers[ADDRESS] = lambda write: (write(headers), done.wait())
    with pytest.raises(InputError, match="timed out"):
        fetch(tmp_path)
    done.set()


def test_redirections(server, tmp_path, monkeypatch):
    """Only redirections to http and https addresses are followed."""
    elsewhere = b"HTTP/1.0 302 Found\r\nLocation: %s\r\n\r\n"
    server.files["/there"] = CONTENT
    server.answers[ADDRESS] = answering(elsewhere % b"/there", b"moved")
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT
    secret = tmp_path / "secret"
    secret.write_bytes(CONTENT)
    for target, message in (
        (b"file://" + bytes(secret), "302 Found.*not allowed"),
        (b"data:text/plain,x", "not allowed"),
        (ADDRESS.encode(), "302 .*infinite loop"),
        (b"http://[", "cannot be fetched .*: check the address and the proxy"),
    ):
        server.answers[ADDRESS] = answering(elsewhere % target)
        with pytest.raises(InputError, match=message) as error:
            fetch(tmp_path / "other")
        assert "\n" not in str(error.value) and not (tmp_path / "other").exists()
    monkeypatch.setenv("MH4_DATA_URL", "file://" + str(tmp_path))
    (tmp_path / ADDRESS[1:]).parent.mkdir(parents=True)
    (tmp_path / ADDRESS[1:]).write_bytes(CONTENT)
    with pytest.raises(InputError, match="leads to file://.*, which is not an address on the web"):
        fetch(tmp_path / "other")


def test_a_web_page_instead_of_a_file(server, tmp_path):
    server.files[ADDRESS] = b"\n<!DOCTYPE html><html>welcome to our network</html>"
    with pytest.raises(InputError, match=r"expected \w+\), but a web page, perhaps of a network that asks for a login: deleted$"):
        fetch(tmp_path)


# Obstacles in the folder


@pytest.mark.parametrize("name", ["hu-ud-train.conllu", "ud-treebanks-v2.0.tgz"])
@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_what_is_no_file(server, tmp_path, name, what):
    path = tmp_path / name
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    message = "move it away, or choose another folder$"
    with pytest.raises(InputError, match=re.escape(str(path)) + ".*" + message):
        fetch(tmp_path, source="lindat" if ".tgz" in name else "github")
    assert server.seen == [] and names(tmp_path) == [name]


def test_a_full_disk(server, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(InputError, match="hu-ud-train.conllu: cannot be written: File too large"):
            fetch(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(tmp_path) == [] and fetch(tmp_path)["train"].read_bytes() == CONTENT


# Many processes at once

FORK = multiprocessing.get_context("fork")  # a forked process inherits the patched manifest


def started(folder, lang="hu", source=None):
    process = FORK.Process(
        target=treebanks.locate, args=(lang,), kwargs={"to": str(folder), "splits": ["train"], "source": source}, daemon=True
    )
    process.start()
    return process


def ended(processes):
    """Wait for the processes to end; return their exit codes."""
    for process in processes:
        process.join(60)
    return [process.exitcode for process in processes]


@pytest.mark.slow
def test_many_at_once_of_which_some_are_killed(server, tmp_path):
    """The partial files of killed processes are deleted by the next one."""
    server.pause = 0.02
    processes = [started(tmp_path) for _ in range(3)]
    wait_for(lambda: len(server.seen) == 3)
    for process in processes[:2]:
        os.kill(process.pid, signal.SIGKILL)
    assert ended(processes) == [-signal.SIGKILL] * 2 + [0]
    (tmp_path / "hu-ud-train.conllu").unlink()
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT and names(tmp_path) == ["hu-ud-train.conllu"]


def test_many_at_once_from_one_archive(server, tmp_path, monkeypatch):
    """Four processes, two for each of two languages, share one archive."""
    rows = [ROW, ROW._replace(lang="el", file="el-ud-train.conllu", git_blob_sha1=blob_id(b"greek"))]
    monkeypatch.setattr(treebanks, "manifest", lambda: rows)
    server.files[ARCHIVE] = archive(
        {"a/el-ud-train.conllu": b"greek", "a/noise": os.urandom(200_000), "a/hu-ud-train.conllu": CONTENT}
    )
    server.pause = 0.01
    assert ended([started(tmp_path, lang, "lindat") for lang in ("hu", "el") * 2]) == [0] * 4
    assert [(tmp_path / (lang + "-ud-train.conllu")).read_bytes() for lang in ("hu", "el")] == [CONTENT, b"greek"]
    assert names(tmp_path) == ["el-ud-train.conllu", "hu-ud-train.conllu", "ud-treebanks-v2.0.tgz"]


@pytest.mark.slow
def test_many_at_once_without_locks(server, tmp_path, monkeypatch):
    """Without file locks, no file under its final name is wrong, because each process verifies a private copy."""

    def none(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(files.fcntl, "flock", none)
    server.pause = 0.005
    for _ in range(3):
        codes = ended([started(tmp_path) for _ in range(4)])
        assert set(codes) <= {0, 1}
        path = tmp_path / "hu-ud-train.conllu"
        assert not path.exists() or path.read_bytes() == CONTENT
    server.pause = 0
    assert fetch(tmp_path)["train"].read_bytes() == CONTENT


def archive(members):
    """Return the bytes of a .tgz with these {name: content}."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def test_lindat(server, tmp_path):
    server.files[ARCHIVE] = archive(
        {
            "ud-treebanks-v2.0/UD_Hungarian/hu-ud-train.txt": b"text",
            "ud-treebanks-v2.0/UD_Hungarian/hu-ud-train.conllu": CONTENT,
            "ud-treebanks-v2.0/UD_Greek/el-ud-train.conllu": b"greek",
        }
    )
    server.files["/11234/1-2184/ud-test-v2.0-conll2017.tgz"] = archive(
        {
            "ud-test-v2.0-conll2017/input/conll17-ud-test-2017-05-09/hu.conllu": b"no trees",
            "ud-test-v2.0-conll2017/gold/conll17-ud-test-2017-05-09/hu.conllu": CONTENT,
        }
    )
    server.cuts = [100]
    paths = fetch(tmp_path, splits=["train", "test"], source="lindat")
    assert sorted(paths) == ["test", "train"]
    assert all(path.read_bytes() == CONTENT for path in paths.values())
    assert server.seen == [None, "bytes=100-", None]
    archives = ["ud-test-v2.0-conll2017.tgz", "ud-treebanks-v2.0.tgz"]
    assert names(tmp_path) == ["hu-ud-test.conllu", "hu-ud-train.conllu"] + archives
    paths["train"].unlink()
    assert fetch(tmp_path, source="lindat")["train"].read_bytes() == CONTENT
    assert len(server.seen) == 3  # the archive is kept


@pytest.mark.parametrize(
    "content, message",
    [
        (archive({"a/hu-ud-train.conllu": b"other"}), "git blob id " + blob_id(b"other")),
        (archive({"a/el-ud-train.conllu": CONTENT}), "no file of that name"),
        (archive({"a/hu-ud-train.conllu": bytes(1_000_000)}), "no file of that name"),
        (archive({"a/hu-ud-train.conllu": CONTENT})[:-50], "not a readable archive"),
        (b"<html>welcome to our network</html>", "not a readable archive.*, but a web page, perhaps of a network that asks for"),
        (b"", "not a readable archive"),
        (gzip.compress(b"\xff" * 5000), "not a readable archive"),
    ],
    # ids that are the same in every process, as pytest-xdist requires
    ids=["another file", "no such file", "a large file", "cut short", "a web page", "empty", "no archive"],
)
def test_lindat_archives_that_will_not_do(server, tmp_path, monkeypatch, content, message):
    """An archive that is damaged or lacks the file is not kept, but replaced by the next attempt."""
    monkeypatch.setattr(fetching, "FILE", len(CONTENT))
    server.files[ARCHIVE] = content
    for _ in range(2):
        with pytest.raises(InputError, match=message + ".*: deleted$"):
            fetch(tmp_path, source="lindat")
        assert names(tmp_path) == []
    mine = tmp_path / "ud-treebanks-v2.0.tgz"  # of an earlier version of mh4, or damaged since
    mine.write_bytes(content)
    with pytest.raises(InputError, match=message + ".*: deleted$"):
        fetch(tmp_path, source="lindat")
    assert mine.read_bytes() == content and names(tmp_path) == [mine.name]
    server.files[ARCHIVE] = archive({"a/hu-ud-train.conllu": CONTENT})
    assert fetch(tmp_path, source="lindat")["train"].read_bytes() == CONTENT
    assert names(tmp_path) == ["hu-ud-train.conllu", mine.name] and mine.read_bytes() != content


def test_outputs_of_the_shared_task(server, tmp_path, monkeypatch):
    """Outputs go to data/conll17 by default and are verified in the same way as treebanks."""
    monkeypatch.setattr(treebanks, "DATA", tmp_path / "data")
    server.files["/o/r/0123abc/runs/task/C2L2/2017-05-12/output/hu.conllu"] = CONTENT
    server.cuts = [1000]
    paths = conll17.download("hu")
    assert paths == {
        system: tmp_path / "data" / "conll17" / ("hu-%s.conllu" % system) for system in ("udpipe", "stanford", "c2l2")
    }
    assert all(path.read_bytes() == CONTENT for path in paths.values())
    assert conll17.download("hu") == paths and server.seen == [None, "bytes=1000-", None, None]

    paths["c2l2"].write_bytes(b"mine")
    with pytest.raises(InputError, match="is not the file of the CoNLL 2017 shared task: move it away"):
        conll17.download("hu")
    monkeypatch.setenv("MH4_DATA_URL", "http://mh4.invalid")
    with pytest.raises(InputError, match=r"check the network.*CONLL17=FOLDER"):
        conll17.download("hu", ["c2l2"], to=str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_outputs_of_the_shared_task_from_lindat(server, tmp_path):
    """The archive has outputs of other systems and of later runs under the same names."""
    others = {"task/C2L2/2017-05-13/output/hu.conllu": b"later", "task/Stanford/2017-05-12/output/hu.conllu": b"other"}
    right = {"task/C2L2/2017-05-12/output/hu.conllu": CONTENT}
    server.files["/11234/1-2424/conll2017-test-runs-v3.tgz"] = archive({**others, **right})
    for _ in range(2):
        paths = conll17.download("hu", ["c2l2"], to=str(tmp_path), source="lindat")
        assert paths["c2l2"].read_bytes() == CONTENT and len(server.seen) == 1
        paths["c2l2"].unlink()
    server.files["/11234/1-2424/conll2017-test-runs-v3.tgz"] = archive(others)
    (tmp_path / "conll2017-test-runs-v3.tgz").unlink()
    with pytest.raises(InputError, match="no file of that name"):
        conll17.download("hu", ["c2l2"], to=str(tmp_path), source="lindat")


def test_the_command(server, tmp_path, monkeypatch):
    """`mh4 data --conll17` also fetches outputs, into the folder given by --to."""
    monkeypatch.setenv("MH4_DATA_URL", server.url + "/")
    monkeypatch.setattr(treebanks, "manifest", lambda: tuple(ROW._replace(split=split) for split in treebanks.SPLITS))
    succeeds("data", "hu", "--to", tmp_path)
    assert names(tmp_path) == ["hu-ud-train.conllu"]
    server.files["/o/r/0123abc/" + OUTPUT.path] = CONTENT
    listed = succeeds("data", "hu", "--to", tmp_path, "--conll17").decode()
    assert names(tmp_path) == ["hu-%s.conllu" % name for name in ("c2l2", "stanford", "ud-train", "udpipe")]
    assert [line.split()[0] for line in listed.splitlines()] == ["train", "dev", "test", "udpipe", "stanford", "c2l2"]
    assert "no toy treebank" in refuses("data", "toy", "--to", tmp_path, "--conll17")


def test_unknown_language_or_source(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"'en_US.UTF-8', expected one of: eu ur got hu .* lv toy$"):
        treebanks.locate("en_US.UTF-8", to=str(tmp_path))
    monkeypatch.setenv("MH4_DATA_SOURCE", "web")
    with pytest.raises(InputError, match="unknown source 'web', expected one of: github lindat"):
        treebanks.locate("hu", to=str(tmp_path))
    with pytest.raises(InputError, match="no outputs of the shared task for language 'xx', expected one of: eu ur got hu .* lv$"):
        conll17.download("xx", to=str(tmp_path))
    assert names(tmp_path) == []


def test_a_folder_of_ones_own(tmp_path):
    for split in ("dev", "test"):
        (tmp_path / ("xx-ud-%s.conllu" % split)).write_text("")
    there = {split: tmp_path / ("xx-ud-%s.conllu" % split) for split in ("dev", "test")}
    assert treebanks.locate("xx", ud=str(tmp_path)) == there
    assert treebanks.locate("xx", ud=str(tmp_path), splits=["dev"]) == {"dev": there["dev"]}
    with pytest.raises(InputError, match="has no xx-ud-train.conllu$"):
        treebanks.locate("xx", ud=str(tmp_path), splits=["train", "dev"])
    with pytest.raises(InputError, match="has no yy-ud-train.conllu and no yy-ud-dev.conllu and no yy-ud-test.conllu$"):
        treebanks.locate("yy", ud=str(tmp_path))
    with pytest.raises(InputError, match="none is not a folder"):
        treebanks.locate("xx", ud=str(tmp_path / "none"))
    assert len(treebanks.locate("toy", ud=str(tmp_path), to=str(tmp_path / "toy"))) == 3  # generated in spite of `ud`


def test_every_file_has_a_place_at_every_source():
    for module in (treebanks, conll17):
        rows = [row for row in module.manifest() if getattr(row, "release", "2.0") == "2.0"]
        for source in module.SOURCES:
            places = [module._COLLECTION.places(row, source, Path())[0] for row in rows]
            assert all(url.startswith("https://") and bool(members) == (source == "lindat") for url, members in places)
            assert len({(url, *members) for url, members in places}) == len(rows)
    (option,) = (option for option in cli.main.commands["data"].params if option.name == "source")
    assert tuple(option.type.choices) == tuple(treebanks.SOURCES) == tuple(conll17.SOURCES)


@pytest.mark.skipif(not os.environ.get("UD"), reason="UD names no folder with treebanks")
def test_real_files_are_known_by_their_content(tmp_path):
    files = [path for path in sorted(Path(os.environ["UD"]).iterdir()) if path.name in {row.file for row in treebanks.manifest()}]
    if not any(map(treebanks.identify, files)):
        pytest.skip("the folder UD holds other releases than the manifest")
    for path in files:
        row = treebanks.identify(path)
        assert row is not None and row.file == path.name
    renamed = tmp_path / "x.conllu"
    shutil.copy(str(files[0]), str(renamed))
    assert treebanks.identify(renamed) == treebanks.identify(files[0])


@pytest.mark.skipif(not os.environ.get("CONLL17"), reason="CONLL17 names no folder with outputs of the shared task")
def test_real_outputs_are_known_by_their_content():
    files = sorted(Path(os.environ["CONLL17"]).glob("*.conllu"))
    assert files
    for path in files:
        row = conll17.identify_blob(git_blob_id(path))
        assert row is not None and row.file == path.name
