"""Send requests to an application without a server, and to real servers.

Tests that import this are skipped if the packages of mh4[serve] are missing.
"""

import asyncio
import json
import os
import resource
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlencode

import pytest
from running import COMMAND, spawned

for package in ("starlette", "uvicorn", "python_multipart", "prometheus_client", "ufal.udpipe"):
    pytest.importorskip(package, reason="%s is not installed" % package)

FORM = "application/x-www-form-urlencoded"


class Here:
    """A replacement of the pool of processes, which makes calls in this process."""

    size, started, waiting, busy = 1, 1, 0, 0

    def __init__(self, error=None):
        self.error = error

    async def call(self, function, *arguments):
        if self.error:
            raise self.error
        return function(*arguments)


def served(abilities, error=None, correcting=None, **limits):
    """Return an application at a loopback address that makes all calls in this process."""
    from mh4.serving.app import Limits, application
    from mh4.serving.hosts import Hosts

    return application(Here(error), abilities, Limits(**limits), Hosts("127.0.0.1", "127.0.0.1"), correcting)


def ask(app, path, body=b"", kind=FORM, method=None, query=b"", host="localhost:8080", more=(), version="1.1"):
    """Return status, headers and body of the answer to a request. body: bytes, or form parameters. more: headers."""
    body = urlencode(body).encode() if isinstance(body, dict) else body
    headers = [*([(b"host", host.encode())] if host else []), *more] + ([(b"content-type", kind.encode())] if body else [])
    scope = {
        "type": "http",
        "method": method or ("POST" if body else "GET"),
        "path": path,
        "http_version": version,
        "query_string": query,
        "headers": headers,
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent = []

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    found = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


def result(app, **parameters):
    status, _, body = ask(app, "/process", parameters)
    assert status == 200, body
    return json.loads(body)["result"]


def refusal(app, status, path="/process", **parameters):
    """Return the sentence with which a request is rejected."""
    found, headers, body = ask(app, path, parameters)
    assert found == status and headers["content-type"] == "text/plain; charset=utf-8" and body.count(b"\n") == 1
    return body.decode().strip()


def rows(*heads, deprel="_"):
    """Return a sentence of w1, w2, ... in CoNLL-U."""
    return "".join("%d\tw%d\t_\t_\t_\t_\t%s\t%s\t%d:x\tA=B\n" % (m, m, h, deprel, m - 1) for m, h in enumerate(heads, 1)) + "\n"


class Server:
    """A server that runs as users run it."""

    def __init__(self, process, log):
        self.process, self.log_file = process, log
        line = process.stdout.readline().decode()
        self.address = line.split(" ")[0]
        assert self.address.startswith("http://"), (line, log.read_text())

    def get(self, path, body=None, headers=None):
        """Return status and body of the answer; None and b"" if the server closes the connection."""
        request = urllib.request.Request(self.address + path, body, headers or {})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()
        except OSError:  # the server closes the connection
            return None, b""

    def process_text(self, **parameters):
        status, body = self.get("/process", urlencode(parameters).encode())
        assert status == 200, body
        return json.loads(body)["result"]

    def log(self):
        return [json.loads(line) for line in self.log_file.read_text(encoding="utf-8").splitlines()]

    def children(self):
        """Return the ids of the processes that parse."""
        return spawned(self.process.pid)

    def memory(self):
        """Return the resident memory of the server and its processes, in bytes."""
        total = 0
        for number in [self.process.pid, *self.children()]:
            with open("/proc/%d/statm" % number) as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return total


@contextmanager
def running(folder, arguments, files=None):
    """Run `mh4 arguments` as a server, with a log in the folder. files: the limit on open files."""
    log = folder / "log"
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (files, files)) if files else None
    with open(log, "wb") as errors:
        command = COMMAND + arguments
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, preexec_fn=limit)
    with process:
        try:
            yield Server(process, log)
        finally:
            if process.poll() is None:
                process.kill()


def serving(folder, models, *options, files=None):
    """Run a server of these models, {name: (folder, segmenter)}, on a free port; see `running`."""
    arguments = ["serve", "--port", "0", *options]
    for name, (model, segmenter) in models.items():
        arguments += ["--model", "%s=%s" % (name, model)] + (["--segmenter", "%s=%s" % (name, segmenter)] if segmenter else [])
    return running(folder, arguments, files)
