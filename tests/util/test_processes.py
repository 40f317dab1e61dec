"""Child processes end at once with the process that started them, however that ends."""

import multiprocessing.spawn
import os
import resource
import signal
import subprocess
import sys

import pytest
from running import children, wait_for

from mh4.errors import InputError
from mh4.util.processes import Child, Killed

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")]

SECONDS = 60  # the time limit for a process to end on a busy machine
HOURS = 10**13  # counting so far in C takes hours, and blocks signals and other threads

COUNTING = """
import os
from mh4.util.processes import Child

if __name__ == "__main__":
    child = Child()
    print(child.call(os.getpid), flush=True)
    child.call(sum, range(%d))
"""

PARSING = """
import os, sys
from mh4.parser import parallel
from mh4.data.block import Block
from mh4.data.sentence import Sentence
from mh4.cli.group import Commands

class Parser:
    def parse_as_usual(self, sentences, **options):
        os.write(1, b"%%d\\n" %% os.getpid())  # in one piece, as other processes write, too
        sum(range(%d))

if __name__ == "__main__":
    import click
    parallel.CHUNK_WORDS = 1
    parallel.cpu.cores = lambda: 2

    @click.group(cls=Commands)
    def main(): pass

    @main.command()
    def parse():
        blocks = [Block([], Sentence(["w"])) for _ in range(9)]
        with parallel.processes(2) as pool:
            list(parallel.parse(Parser, (), blocks, pool, longest=1, beyond="skip"))

    main(["parse"])
"""


def started(tmp_path, script, **options):
    """Start a process that runs this script, from which its children can import."""
    (tmp_path / "script.py").write_text(script)
    return begun([str(tmp_path / "script.py")], **options)


def begun(command, **options):
    return subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def read_pids(process, count):
    return [int(process.stdout.readline()) for _ in range(count)]


def kill(process, pids):
    """Kill this process and wait until these others have ended; return its messages."""
    process.kill()
    said = process.communicate(timeout=SECONDS)[1]
    wait_for(lambda: not any(map(is_alive, pids)))
    return said


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_calls():
    child = Child()
    assert child.call(divmod, 7, 2) == (3, 1) and child.call(os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError, match="division"):
        child.call(divmod, 7, 0)
    with pytest.raises(TypeError):
        child.call(os.getpid, "too", "many")
    assert child.call(len, "x" * 10**6) == 10**6 and len(child.call(str.lower, "X" * 10**6)) == 10**6
    pid = child.call(os.getpid)
    child.kill()
    assert not is_alive(pid)
    with pytest.raises(Killed):
        child.call(len, "")


def test_a_child_that_cannot_be_started():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        with pytest.raises(InputError, match="^no process can be started: Too many open files$"):
            Child()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_python_that_may_not_be_executed(tmp_path):
    before, python = multiprocessing.spawn.get_executable(), tmp_path / "python"
    for make in (str, lambda path: path.write_text("#!/bin/sh")):
        make(python)
        multiprocessing.set_executable(str(python))
        try:
            with pytest.raises(InputError, match="^no process can be started: .*/python is missing, or may not be executed$"):
                Child().call(os.getpid)
        finally:
            multiprocessing.set_executable(before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_children_leave_signals_to_us(number):
    """Children ignore signals, which a terminal or `kill` may also send to them, perhaps while they start."""
    child = Child()
    os.kill(child.pid, number)
    assert child.call(os.getpid) == child.pid
    child.kill()


def test_no_child_is_left_behind():
    """No child remains if the parent drops it, ends normally, or fails."""
    script = "import os, sys\nfrom mh4.util.processes import Child\nchild = Child()\nprint(child.call(os.getpid), flush=True)\n"
    dropped = "pid = child.pid; del child; print(os.path.exists('/proc/%d' % pid))"
    for end in (dropped, "pass", "sys.exit(3)", "1 / 0", "os._exit(4)", "os.abort()"):
        pid, *there = begun(["-c", script + end]).communicate(timeout=SECONDS)[0].split()
        wait_for(lambda pid=int(pid): not is_alive(pid))
        assert there == ([b"False"] if end == dropped else [])


def test_a_killed_parent_without_prctl(tmp_path):
    """Without prctl, as on macOS, a thread in the child ends it with its killed parent."""
    script = COUNTING.replace("\nif", "from mh4.util import processes\nprocesses._prctl = None\n\nif", 1)
    script = script.replace("sum, range(%d)", "__import__('time').sleep, 3600")
    process = started(tmp_path, script)
    kill(process, read_pids(process, 1))


@pytest.mark.parametrize("script, count", [(COUNTING, 1), (PARSING, 2)])
def test_a_killed_parent_takes_its_children_along(tmp_path, script, count):
    """Children end with a killed parent even if they hold the GIL; no semaphores or messages remain."""
    process = started(tmp_path, script % HOURS)
    pids = read_pids(process, count)
    wait_for(lambda: all(processor_seconds(pid) > 0.3 for pid in pids), process)
    everyone = children(process.pid)
    assert set(pids) < set(everyone)
    for pid in [process.pid, *everyone]:
        with open("/proc/%d/maps" % pid) as file:
            assert "/dev/shm" not in file.read()
    assert kill(process, everyone) == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("everyone", [False, True])
@pytest.mark.usefixtures("ending_signals")
def test_signals_end_parsing_in_mid_sentence(tmp_path, number, everyone):
    """A signal ends parsing at once, in the middle of a sentence, with one message, also if children receive it."""
    process = started(tmp_path, PARSING % HOURS, start_new_session=True)
    pids = read_pids(process, 2)
    (os.killpg if everyone else os.kill)(process.pid, number)
    said = process.communicate(timeout=SECONDS)[1]
    assert said.decode() == ("mh4: interrupted\n" if number == signal.SIGINT else "mh4: stopped by %s\n" % number.name)
    assert process.returncode == 128 + number and not any(map(is_alive, pids))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("ending_signals")
def test_training_a_segmenter_ends(treebank, tmp_path, how):
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    files = [str(treebank / "toy-ud-train.conllu"), "--dev", str(treebank / "toy-ud-dev.conllu")]
    command = ["-m", "mh4", "segmenter", "train", *files, "--epochs", "1000", "-o", str(tmp_path / "out")]
    process = begun(command)
    wait_for(lambda: any(processor_seconds(pid) > 1 for pid in children(process.pid)), process)
    everyone = children(process.pid)
    process.send_signal(how)
    said = process.communicate(timeout=SECONDS)[1]
    wait_for(lambda: not any(map(is_alive, everyone)))
    [*of_udpipe, last] = said.decode().splitlines()
    assert of_udpipe[0].startswith("Training tokenizer") and "Traceback" not in said.decode()
    if how != signal.SIGKILL:
        assert last == ("mh4: interrupted" if how == signal.SIGINT else "mh4: stopped by SIGTERM")
        assert process.returncode == 128 + how and list(tmp_path.iterdir()) == []


def test_commands_started_by_subprocess():
    script = "import subprocess, sys, time\nfrom mh4.util.processes import with_parent\n"
    script += "print(subprocess.Popen(['sleep', '600'], preexec_fn=with_parent()).pid, flush=True)\ntime.sleep(600)\n"
    process = begun(["-c", script])
    (pid,) = read_pids(process, 1)
    assert is_alive(pid)
    kill(process, [pid])
