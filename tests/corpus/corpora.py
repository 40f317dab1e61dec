"""Models, files and commands for the tests of corpora."""

import os
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import toy
from click.testing import CliRunner

from mh4 import cli
from mh4.corpus import parsing
from mh4.util import compression
from mh4.util.processes import with_parent


def train(folder):
    """Write an untrained model and the toy treebank into a folder; return the folder."""
    toy.untrained("mh3", toy.sentences(folder)[:40], folder)
    return str(folder)


class Here:
    """A pool that makes calls in this process, when results are requested; before each one, it calls before(shard)."""

    def __init__(self, before=lambda shard: None):
        self._before, self._calls = before, []

    def count(self):
        return 2

    def refused(self):
        return []

    def expected(self):
        return False

    def submit(self, function, *arguments):
        self._calls.append((object(), function, arguments))
        return self._calls[-1][0]

    def finished(self, seconds):
        """Make one call now, and return it with its result or error."""
        call, function, arguments = self._calls.pop(0)
        try:
            self._before(arguments[2])
            return [(call, function(*arguments), None)]
        except Exception as error:
            return [(call, None, error)]

    def cancel(self):
        pass


def start(*arguments, **options):
    """Start `mh4 arguments`; it ends with this process."""
    environment = {**os.environ, **options.pop("env", {})}
    command = [sys.executable, "-m", "mh4", *arguments]
    return subprocess.Popen(command, env=environment, stdout=-1, stderr=-1, preexec_fn=with_parent(), **options)


def run(*arguments, **options):
    """Run `mh4 arguments`; return its exit code, standard output and standard error."""
    process = start(*arguments, **options)
    out, err = process.communicate()
    return process.returncode, out.decode(), err.decode()


def workers_of(driver):
    """Return the worker processes that a driver on this machine has started."""
    import psutil  # it comes with Dask, which may be missing

    with_names = []
    for child in psutil.Process(driver.pid).children(recursive=True):
        try:
            if "spawn_main" in " ".join(child.cmdline()):
                with_names.append(child)
        except psutil.NoSuchProcess:
            pass
    return with_names


def alive(process):
    """Return whether a process is still running; it may end at any moment."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def in_mid_shard(folder):
    """Return the files that are being written in the folder of a corpus."""
    return list(folder.glob("shards/*/*/.*.part"))


def records(folder):
    return sorted(folder.glob("shards/*/*/*.json"))


def pool(monkeypatch, before=lambda shard: None):
    """Replace workers by this process."""
    from mh4.corpus import workers

    @contextmanager
    def here(corpus, number, scheduler=None, slurm=None):
        yield Here(before)

    monkeypatch.setattr(workers, "start", here)
    monkeypatch.setattr(parsing, "Pool", lambda what: nullcontext(SimpleNamespace(call=lambda f, *arguments: f(*arguments))))


def mh4(*arguments, code=0):
    """Return what the command prints to standard output and error."""
    done = CliRunner().invoke(cli.main, arguments)
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def parse(*more, model="model", code=0):
    return mh4("corpus", "parse", "in", "-o", "out", "--model", model, *more, code=code)


def same_as_mh4_parse(tmp_path, *options):
    """Return whether the joined files are what `mh4 parse` writes."""
    names = sorted(os.listdir("in"))
    mh4("parse", "--quiet", "--model", "model", *("in/" + name for name in names), "-o", "parsed/", *options)
    mh4("corpus", "join", "out", "-o", "joined")
    joined, parsed = ({path.name: content(path) for path in (tmp_path / folder).iterdir()} for folder in ("joined", "parsed"))
    assert sorted(joined) == names
    return joined == parsed


def content(path):
    """Return the content of a file, decompressed, since archives depend on how they are written."""
    with compression.opened(str(path)) as file:
        return file.read()
