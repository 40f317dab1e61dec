"""`make setup`: the cache of wheels, missing prerequisites, interruption, and the Makefile. DyNet is not built."""

import io
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import types
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest
from running import wait_for
from toy import ROOT

from mh4.dynet_build import compilers, dynet_wheel
from mh4.dynet_build.console import Console
from mh4.errors import InputError

sys.path.insert(0, str(ROOT / "tools"))
import environment  # noqa: E402


@pytest.fixture
def console(tmp_path):
    return Console(str(tmp_path / "log"), io.StringIO())


# The cache of wheels


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A private cache, because the setup deletes wheels that do not run from the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def a_wheel(folder):
    path = folder / "dynet-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("dynet.py", "x = 1\n" * 1000)
    return str(path)


def test_a_placed_wheel_is_found_again(tmp_path):
    wheel = a_wheel(tmp_path)
    folder = tmp_path / "cache [of mine]"  # brackets are special to glob
    path = dynet_wheel.place(wheel, str(folder))
    assert dynet_wheel.cached(str(folder)) == path
    assert os.listdir(str(folder)) == ["dynet-1-py3-none-any.whl"]
    assert Path(path).read_bytes() == Path(wheel).read_bytes()


def test_placing_that_fails_leaves_the_old_wheel(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    path = Path(dynet_wheel.place(a_wheel(tmp_path), str(folder)))
    before = path.read_bytes()

    def interrupted(source, target):
        Path(target).write_bytes(Path(source).read_bytes()[:10])
        raise KeyboardInterrupt

    monkeypatch.setattr(dynet_wheel.shutil, "copyfile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dynet_wheel.place(str(path), str(folder))
    assert os.listdir(str(folder)) == [path.name] and path.read_bytes() == before


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda whole: b"", lambda whole: whole.replace(b"x = 1", b"y = 2", 1)]
)
def test_a_damaged_wheel_is_removed(tmp_path, damage):
    path = Path(a_wheel(tmp_path))
    path.write_bytes(damage(path.read_bytes()))
    assert dynet_wheel.cached(str(tmp_path)) is None
    assert not path.exists()


def test_the_cache_is_the_users_and_keyed_by_python_and_processor(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MH4_MARCH", raising=False)
    folder = dynet_wheel.wheel_folder()
    assert folder == dynet_wheel.wheel_folder()
    assert Path(folder).parent == tmp_path / "mh4"
    for part in (dynet_wheel.VERSION, sysconfig.get_config_var("SOABI"), dynet_wheel.processor()):
        assert part in folder
    monkeypatch.setenv("MH4_MARCH", "x86-64-v3")
    assert dynet_wheel.wheel_folder() != folder and dynet_wheel.wheel_folder().endswith("-x86-64-v3")
    assert dynet_wheel.library_folder({}).endswith("-x86-64-v3")
    monkeypatch.setenv("MH4_MARCH", "native")
    assert dynet_wheel.wheel_folder() == folder
    monkeypatch.setattr(dynet_wheel, "processor", lambda: "x86_64-another")
    assert dynet_wheel.wheel_folder() != folder
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Path(dynet_wheel.wheel_folder()).parent == tmp_path / ".cache" / "mh4"


def test_a_cached_wheel_is_not_built_again(tmp_path, monkeypatch, console):
    built = []

    def build(console, jobs, work, env, folder):
        built.append(folder)
        return dynet_wheel.place(a_wheel(tmp_path), folder)

    monkeypatch.setattr(dynet_wheel, "build", build)
    paths = [dynet_wheel.wheel(console, 1, str(tmp_path), {}) for _ in range(2)]
    assert paths[0] == paths[1] and len(built) == 1
    Path(paths[0]).write_bytes(b"")
    assert dynet_wheel.wheel(console, 1, str(tmp_path), {}) == paths[0] and len(built) == 2


def test_the_library_is_compiled_once_for_all_pythons(tmp_path, monkeypatch, console):
    compiled = []

    def compile_library(command, env, folder, failure):
        compiled.append(command)
        (Path(folder) / "dynet").mkdir()
        (Path(folder) / "dynet" / "libdynet.so").write_bytes(b"machine code" * 100)

    monkeypatch.setattr(console, "run", compile_library)

    def library(name):
        (tmp_path / name).mkdir()
        dynet_wheel.library(console, 1, str(tmp_path / name), {}, dynet_wheel.library_folder({}))
        return (tmp_path / name / "dynet" / "libdynet.so").read_bytes()

    monkeypatch.setattr(dynet_wheel.sysconfig, "get_config_var", lambda _: "cpython-39")
    one = library("one")
    monkeypatch.setattr(dynet_wheel.sysconfig, "get_config_var", lambda _: "cpython-313")
    assert library("another") == one and len(compiled) == 1
    wheel = dynet_wheel.place(a_wheel(tmp_path), dynet_wheel.wheel_folder())
    dynet_wheel.forget(wheel, console, {})  # also deletes the library, which may be damaged
    assert library("third") == one and len(compiled) == 2 and dynet_wheel.cached(dynet_wheel.wheel_folder()) is None


def test_the_library_is_compiled_again_for_another_compiler():
    """The library is cached by compiler and options, because its bindings need the same standard library."""
    compilers = [("g++", ""), ("clang++", ""), ("clang++ -stdlib=libc++", ""), ("clang++", "-stdlib=libc++")]
    assert len({dynet_wheel.library_folder({"CXX": name, "CXXFLAGS": options}) for name, options in compilers}) == 4
    assert dynet_wheel.library_folder({"CXX": "g++", "LANG": "eu"}) == dynet_wheel.library_folder({"CXX": "g++"})


@pytest.mark.parametrize("xdg", [None, "", "relative", "~/x", "./x"])
@pytest.mark.parametrize("home", ["", "relative", "~"])
def test_a_cache_without_a_home(tmp_path, monkeypatch, xdg, home):
    """A relative XDG_CACHE_HOME is ignored; without an absolute home there is no cache, and no folder ~ is made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME")
    if xdg is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Path(dynet_wheel.wheel_folder()).parent == tmp_path / "home" / ".cache" / "mh4"
    monkeypatch.setenv("HOME", home)
    with pytest.raises(InputError, match="no place for the cache.*set HOME, or XDG_CACHE_HOME to the absolute path"):
        dynet_wheel.wheel_folder()
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a user without an entry in passwd
    with pytest.raises(InputError, match="no place for the cache"):
        dynet_wheel.wheel_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Path(dynet_wheel.wheel_folder()).parent == tmp_path / "mh4" and os.listdir(str(tmp_path)) == []


@pytest.mark.parametrize("home, said", [("", "no place for the cache"), ("FILE", "the cache folder is not writable")])
def test_a_setup_without_a_cache_does_not_begin(place, tmp_path, monkeypatch, home, said):
    monkeypatch.setattr(environment, "find_compiler", dict)
    monkeypatch.setattr(place.console, "run", lambda *_, **__: pytest.fail("something was run"))
    monkeypatch.delenv("XDG_CACHE_HOME")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", home.replace("FILE", str(tmp_path / "file")))
    with pytest.raises(InputError, match=said):
        place.set_up()
    assert not place.folder.exists()


def test_one_at_a_time_fills_the_cache(tmp_path, console):
    """While one process fills the cache, others print that they are waiting."""
    folder = str(tmp_path / "folder")
    code = "import sys; from mh4.dynet_build import console, dynet_wheel\n"
    code += "with dynet_wheel.locked(%r, console.Console('')):\n    print('locked', flush=True); sys.stdin.read()" % folder
    one = subprocess.Popen([sys.executable, "-c", code], cwd=str(ROOT), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert one.stdout.readline() == b"locked\n"
    threading.Timer(0.3, one.kill).start()
    with dynet_wheel.locked(folder, console):
        pass
    assert console.stream.getvalue() == "Waiting for another setup ...\n"
    one.communicate()


def test_a_wheel_is_forgotten_but_not_its_lock(tmp_path, console):
    """The lock stays in the folder: without it, two processes could hold the lock."""
    wheel = dynet_wheel.place(a_wheel(tmp_path), dynet_wheel.wheel_folder())
    for _ in range(2):  # as by two processes for which the wheel does not work
        dynet_wheel.forget(wheel, console, {})
    for folder in (dynet_wheel.wheel_folder(), dynet_wheel.library_folder({})):
        assert os.listdir(folder) == ["lock"]


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "99999999999", "1.5", "", "1\n", "١"])
def test_a_number_of_compilers_that_is_none(jobs):
    with pytest.raises(InputError, match="^JOBS: %s is not a whole number from 1 to 9999.$" % re.escape(jobs)):
        compilers.processes(jobs)
    with pytest.raises(InputError, match="^JOBS: 99999999999 is not a whole number"):
        dynet_wheel.install_here(99999999999)


def test_the_number_of_compilers(monkeypatch):
    """There are at most as many as the user wants, the cores, and the free memory in units of 1.5 GB."""
    monkeypatch.setattr(compilers.cpu, "cores", lambda: 8)
    for free, most in ((None, 8), (10**11, 8), (6 * 10**9, 4), (10**9, 1)):
        monkeypatch.setattr(compilers.memory, "available", lambda free=free: free)
        assert [compilers.processes(jobs) for jobs in (None, 1, "3", 50)] == [most, 1, min(3, most), most]


@pytest.mark.parametrize(
    "error, said",
    [
        (OSError(28, "No space left on device", "/x/y"), "mh4: /x/y: No space left on device"),
        (PermissionError(13, "Permission denied"), "mh4: BUILD: Permission denied"),
        (InputError("no."), "mh4: no."),
    ],
)
def test_whatever_fails_is_one_sentence(tmp_path, monkeypatch, ending_signals, error, said):
    def failing(*_):
        raise error

    monkeypatch.setattr(environment, "make_ready", failing)
    monkeypatch.setattr(sys, "argv", ["tools/environment.py"])
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit, match=re.escape(said.replace("BUILD", str(tmp_path / "build"))) + "$"):
            environment.main(tmp_path)
        (tmp_path / "build").rmdir()
        (tmp_path / "build").write_text("a file")
        with pytest.raises(SystemExit, match="^mh4: %s: File exists$" % (tmp_path / "build")):
            environment.main(tmp_path)
    finally:
        signal.signal(signal.SIGTERM, before)


# Missing prerequisites


@pytest.mark.parametrize("version", [(3, 5), (3, 10)])
def test_python_too_old(version, monkeypatch):
    assert re.search(r"^Python %d.%d is too old, .* PYTHON=python3" % version, environment.complaint(version))
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(sys, "argv", ["tools/environment.py", "--this-python"])
    with pytest.raises(SystemExit, match="^mh4: Python .* is too old"):
        runpy.run_path(str(ROOT / "tools" / "environment.py"), run_name="__main__")


@pytest.mark.parametrize("version, warns", [(environment.NEWEST, False), ((3, environment.NEWEST[1] + 1), True)])
def test_python_newer_than_tested(place, version, warns, monkeypatch):
    """A newer Python is used, with a warning when .venv is made."""
    assert environment.complaint(version) is None
    made = []
    monkeypatch.setattr(environment.Environment, "is_ready", lambda _: False)
    monkeypatch.setattr(environment.Environment, "set_up", lambda self: made.append(self))
    monkeypatch.setattr(sys, "version_info", version)
    environment.make_ready(place.root, place.console, types.SimpleNamespace(jobs=None, quiet=True))
    said = place.console.stream.getvalue()
    assert made and said.startswith("Warning: Python 3.%d is newer than" % version[1]) == warns and said.count("\n") == 1 + warns


@pytest.mark.parametrize("version", [(3, 9), (3, 12)])
def test_the_python_of_the_environment_is_used_again(tmp_path, monkeypatch, version):
    """The recorded Python of the environment is used again, unless the user selects another one."""
    for folder in ("tools", ".venv"):
        (tmp_path / folder).mkdir()
    main, record, started = tmp_path / "tools" / "environment.py", tmp_path / ".venv" / "mh4-setup.json", []
    shutil.copy(environment.__file__, main)
    monkeypatch.setattr(os, "execv", lambda python, arguments: started.append((python, *arguments)) or sys.exit())
    monkeypatch.setattr(sys, "version_info", version)
    for python, options, handed_over in (
        ("/bin/sh", [], True), ("/bin/sh", ["--quiet"], True), ("/bin/sh", ["--this-python"], False), ("/no/python", [], False),
        (environment.executable(), [], False), (None, [], False),
    ):  # fmt: skip
        record.write_text(json.dumps({"python": {"executable": python}}) if python else "damaged")
        monkeypatch.setattr(sys, "argv", ["tools/environment.py", *options, "--help"])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(main), run_name="__main__")
        assert started == ([("/bin/sh", "/bin/sh", str(main), *options, "--help")] if handed_over else [])
        assert handed_over or (ended.value.code == 0 if version == (3, 12) else "is too old" in ended.value.code)
        del started[:]


def test_python_without_venv(place, monkeypatch):
    monkeypatch.setattr(environment.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1))
    with pytest.raises(InputError, match="apt install python3-venv"):
        place.set_up()


def test_no_compiler(tmp_path):
    with pytest.raises(InputError, match=r"no C\+\+ compiler.*apt install g\+\+ python3-dev"):
        compilers.find_compiler({"PATH": str(tmp_path)})


def test_a_compiler_that_does_not_work(tmp_path):
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'xcrun: error: invalid active developer path' >&2\nexit 1\n")
    compiler.chmod(0o755)
    with pytest.raises(InputError, match="does not work .*invalid active developer path"):
        compilers.find_compiler(dict(os.environ, CXX=str(compiler)))
    with pytest.raises(InputError, match="does not work"):
        compilers.find_compiler(dict(os.environ, CXX=str(tmp_path / "nothing here")))
    with pytest.raises(InputError, match="does not work .*quotation"):
        compilers.find_compiler(dict(os.environ, CXX="it's"))


def test_no_headers(tmp_path, monkeypatch):
    monkeypatch.setattr(compilers.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(InputError, match="Python.h .*apt install python3-dev"):
        compilers.find_compiler(dict(os.environ, CC="cc", CXX="c++"))


@pytest.mark.parametrize(
    "output, said",
    [
        ("Failed to establish a new connection: [Errno -3] Temporary failure in name resolution", "no network"),
        ("g++: fatal error: Killed signal terminated program cc1plus", "make setup JOBS=1"),
        ("ERROR: No matching distribution found for dynet", "No matching distribution found for dynet"),
        ("nothing of the kind", "it broke; the full output is in"),
    ],
)
def test_a_command_that_fails_says_why(console, output, said):
    with pytest.raises(InputError) as error:
        console.run([sys.executable, "-c", "print(%r); raise SystemExit(1)" % output], failure="it broke")
    assert str(error.value).startswith("it broke") and said in str(error.value) and console.log in str(error.value)
    assert "\n" not in str(error.value)


# Interruption


def is_running(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], stdout=subprocess.PIPE).stdout.decode().strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.skipif(not shutil.which("ps"), reason="there is no ps to look for processes with")
def test_an_interrupted_command_ends_with_all_it_has_started(console, tmp_path):
    file = tmp_path / "pid"

    def alarm(*_):
        if not file.exists() or not file.read_text().endswith("\n"):
            return
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            console.run(["sh", "-c", "sleep 600 & echo $! > '%s'; wait" % file])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    wait_for(lambda: not is_running(int(file.read_text())))


@pytest.mark.skipif(not shutil.which("ps"), reason="there is no ps to look for processes with")
def test_what_a_killed_setup_has_started_ends(tmp_path):
    """Commands end with a killed setup, so that they do not write to .venv during the next one."""
    file = tmp_path / "pid"
    code = "from mh4.dynet_build.console import Console; Console(%r).run(['sh', '-c', 'sleep 600 & echo $! > %s; wait'])"
    setup = subprocess.Popen([sys.executable, "-c", code % (str(tmp_path / "log"), file)], cwd=str(ROOT))
    pid = int(wait_for(lambda: file.exists() and file.read_text().partition("\n")[0], setup))
    assert is_running(pid)
    setup.kill()
    setup.wait()
    wait_for(lambda: not is_running(pid))


def test_commands_are_given_as_they_are(console):
    """Arguments are passed unchanged, also with bytes that are not UTF-8; standard input is empty."""
    odd = ["a b", "$HOME", "'", "", "*", "\udcff\n"]
    check = "import os, sys; print(sys.argv[1:]); raise SystemExit(sys.argv[1:] != %r or sys.stdin.read() != '')" % odd
    console.run([sys.executable, "-c", check, *odd])
    with pytest.raises(InputError, match="it broke .*no-such-command: not found.*; the full output is in"):
        console.run(["no-such-command"], failure="it broke")


@pytest.fixture
def place(tmp_path, monkeypatch, console):
    """An Environment in a separate repository."""
    (tmp_path / "build").mkdir()
    (tmp_path / "mh4" / "decoders").mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(environment.Environment, "runs", lambda *_: True)
    return environment.Environment(tmp_path, console, 1)


def complete(place):
    place.folder.mkdir()
    place.write(doing=None, **place.wanted())


def reread(place):
    place.record = environment.record(place.root)
    return place


def test_what_is_complete_is_ready_and_a_changed_source_is_not(place):
    assert not place.is_ready()
    complete(place)
    assert reread(place).is_ready()
    (place.root / "pyproject.toml").write_text("changed")
    assert not place.is_ready() and place.has("python", "tools", "dynet", "processor", "decoders") and not place.has("package")
    (place.root / "pyproject.toml").write_text("")
    (place.root / "mh4" / "decoders" / "new.pyx").write_text("")
    assert not place.is_ready() and place.has("package") and not place.has("decoders")


def test_a_processor_stays_selected(place, monkeypatch):
    """The MH4_MARCH of an environment holds for later commands, until it gets another value."""
    monkeypatch.setenv("MH4_MARCH", "x86-64-v3")
    complete(place)
    monkeypatch.delenv("MH4_MARCH")
    assert environment.Environment(place.root, place.console, 1).is_ready()
    monkeypatch.setenv("MH4_MARCH", "native")
    assert not environment.Environment(place.root, place.console, 1).is_ready()


def test_a_decoder_that_is_not_compiled_is_not_ready(place):
    (place.root / "mh4" / "decoders" / "mh3.pyx").write_text("")
    complete(place)
    assert not place.is_ready()
    (place.root / "mh4" / "decoders" / ("mh3.%s.so" % sysconfig.get_config_var("SOABI"))).write_text("")
    assert place.is_ready()


@pytest.fixture
def commands(place, monkeypatch):
    """The commands that a setup would run."""
    ran = []
    monkeypatch.setattr(environment, "find_compiler", dict)
    monkeypatch.setattr(environment.dynet_wheel, "wheel", lambda *_: "dynet.whl")
    monkeypatch.setattr(place.console, "run", lambda command, *_, **__: ran.append(" ".join(command)))
    return ran


def steps(place, commands):
    """Return one word for each command of a setup."""
    del commands[:]
    reread(place).set_up()
    assert reread(place).is_ready()
    words = {"-m venv": "venv", "setuptools": "tools", "dynet.whl": "dynet", "--editable": "package", "build_ext": "decoders"}
    return [word for command in commands for part, word in words.items() if part in command]


def test_the_steps_of_a_setup(place, commands):
    every = ["venv", "tools", "dynet", "package", "decoders"]
    assert steps(place, commands) == every and steps(place, commands) == []
    (place.root / "mh4" / "decoders" / "new.pxd").write_text("")
    assert steps(place, commands) == ["decoders"]
    (place.root / "setup.py").write_text("changed")
    assert steps(place, commands) == ["package", "decoders"]
    for key, expected in (("processor", ["dynet"]), ("dynet", ["dynet"]), ("tools", ["venv", "tools"]), ("python", every)):
        place.write(**{key: "another"})
        assert steps(place, commands) == expected, key


@pytest.mark.parametrize("python, pip", [("true", "true"), ("true", "false"), ("false", "true")])
def test_mh4_is_installed_if_it_is_compiled_and_pip_succeeds(console, python, pip):
    with nullcontext() if python == pip else pytest.raises(InputError):
        console.run(["sh", "-c", environment.COMPILE_AND_INSTALL, shutil.which(python), pip])


def test_after_an_interruption_all_is_made_anew_after_a_failure_one_step(place, commands):
    complete(place)
    with pytest.raises(InputError), place.step(None, "package"):
        raise InputError("no network")
    assert reread(place).is_ready()
    with pytest.raises(KeyboardInterrupt), place.step(None, "package"):
        raise KeyboardInterrupt
    (place.folder / "half").write_text("")
    assert not reread(place).is_ready()
    assert steps(place, commands) == ["venv", "tools", "dynet", "package", "decoders"] and not (place.folder / "half").exists()


def test_a_wheel_that_does_not_run_is_built_again(tmp_path, console):
    """A wheel that does not run is deleted, so that it is built again; one that pip cannot install stays."""
    python = tmp_path / "python"
    for failing, kept, said in (
        ("*pip*", True, "could not be installed from"),
        ("-c*", False, "does not run"),
        ("none", True, ""),
    ):
        wheel = dynet_wheel.place(a_wheel(tmp_path), dynet_wheel.wheel_folder())
        python.write_text('#!/bin/sh\ncase "$*" in %s) exit 1;; esac\n' % failing)
        python.chmod(0o755)
        with pytest.raises(InputError, match=said) if said else nullcontext():
            dynet_wheel.install(str(python), wheel, console, {})
        assert os.path.exists(wheel) == kept


def test_an_environment_of_someone_else_is_left_alone(place, commands):
    place.folder.mkdir()
    (place.folder / "pyvenv.cfg").write_text("mine")
    with pytest.raises(InputError, match="was not made by `make setup`"):
        place.set_up()
    assert (place.folder / "pyvenv.cfg").read_text() == "mine" and not commands


def test_the_environment_of_commands_leads_nowhere_else():
    env = compilers.clean_environment(
        {"PATH": "p", "PYTHONPATH": "x", "MAKEFLAGS": "LANG=eu", "PIP_TARGET": "x", "PIP_INDEX_URL": "u"}
    )
    assert env == {"PATH": "p", "PIP_INDEX_URL": "u"}


# The Makefile: LANG names a treebank and a locale

STUB = """#!/bin/sh
printf '%s\\n' "run: $*" "LANG is ${LANG-unset}" "UD is ${UD-unset}"
"""


@pytest.fixture
def make(tmp_path):
    """A function that runs make in a copy whose Pythons are stubs that print their arguments."""
    if not shutil.which("make"):
        pytest.skip("there is no make")
    shutil.copy(str(ROOT / "Makefile"), str(tmp_path))
    shutil.copytree(str(ROOT / "experiments" / "studies"), str(tmp_path / "experiments" / "studies"))
    for name in ("stub", ".venv/bin/python"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB)
        path.chmod(0o755)

    def run(*arguments, **env):
        clean = {"PATH": os.environ["PATH"]}
        return subprocess.run(
            ["make", "PYTHON=./stub"] + list(arguments), cwd=str(tmp_path), env=dict(clean, **env), stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", errors="surrogateescape",
        )  # fmt: skip

    return run


@pytest.mark.parametrize("target", ["reproduce", "test", "setup"])
@pytest.mark.parametrize("locale", [{}, {"LANG": "de_DE.UTF-8"}])
def test_a_treebank_is_not_a_locale(make, target, locale):
    made = make(target, "LANG=eu", **locale)
    assert made.returncode == 0, made.stderr
    assert "LANG is unset\n" in made.stdout and "LANG is eu\n" not in made.stdout
    assert "--LANG" not in make(target, **locale).stdout


ODD = ["it's", "a b", "a  b ", "`touch ran`", "a;touch ran", "a&b|c>d<e", 'a"b', "a\\", *"*~%é\udcff", "a=b", "a,b)c(d"]


@pytest.mark.parametrize("odd", ODD)
def test_options_reach_the_study_as_they_are(make, tmp_path, odd):
    made = make("reproduce", "LANG=eu", "SYSTEMS=mh3 mst", "SETTING=x", "UD=" + odd, CONLL17=odd, JOBS="2")
    assert "run: tools/environment.py --this-python --jobs=2 --quiet\n" in made.stdout
    # Environment variables (CONLL17, JOBS) are not passed as options.
    assert "run: -m experiments reproduce --LANG=eu --SETTING=x --SYSTEMS=mh3 mst --UD=%s\n" % odd in made.stdout
    assert "UD is %s\n" % odd in make("test", "UD=" + odd).stdout
    assert not (tmp_path / "ran").exists()


def test_make_alone_lists_the_targets_and_studies(make):
    made = make()
    assert made.returncode == 0 and "run:" not in made.stdout
    assert "make reproduce LANG=toy " in made.stdout
    assert "\nmake conll17 [UD=folder] [CONLL17=folder]  # the scores of the shared task's systems" in made.stdout
