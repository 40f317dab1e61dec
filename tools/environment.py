"""Make .venv, or bring it up to date: `make setup`.

Old Pythons must be able to run this file, to hand over to the Python of .venv or to report that they are too old.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 11), (3, 15)  # of the Pythons that mh4 was tested with
VERSIONS = "Python %d.%d to %d.%d" % (OLDEST + NEWEST)
# These stay in .venv, to compile changed decoders again: the build tools of pyproject.toml, and numpy for DyNet.
BUILD_TOOLS = ["pip>=25.1", "setuptools>=77", "cython>=3.1", "numpy"]
# Compiles the decoders; meanwhile, the rest of the command installs mh4, on one core.
COMPILE_AND_INSTALL = '"$0" setup.py build_ext --inplace --parallel=%d & MH4_COMPILED=1 "$@" && wait $!'
OF_DYNET = ("dynet", "march", "processor")  # entries of the record
GENERATED = "recurrences.hpp"  # by setup.py, from the files in mh4/decoders/charts/oneec
# Prints the version and the path of a Python that can make environments and compile; prints nothing for other Pythons.
USABLE = """import ensurepip, os, sys, sysconfig, venv
if os.path.exists(sysconfig.get_path("include") + "/Python.h"):
    print(*sys.version_info[:3], os.path.realpath(sys.executable))"""


def executable():
    """Return the path of this Python, not of a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def pythons():
    """Return the newest Python of each version that mh4 runs on, from the PATH and from pyenv, oldest version first."""
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    names = [
        "python3",
        *("python3.%d" % minor for minor in range(OLDEST[1], NEWEST[1] + 1)),
        *glob(pyenv + "/versions/*/bin/python3"),
    ]
    found = set()
    for python in filter(shutil.which, [sys.executable, *names]):
        done = subprocess.run([python, "-c", USABLE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        if done.stdout:
            *numbers, path = done.stdout.rstrip("\n").split(" ", 3)
            version = tuple(map(int, numbers))
            if version >= OLDEST:
                found.add((version, path))
    newest = {version[:2]: path for version, path in sorted(found)}  # later ones replace earlier ones
    return list(newest.values())


def complaint(version):
    """Return why mh4 does not run on this version of Python, in one sentence, or None if it does."""
    if version >= OLDEST:
        return None
    names = ["python3.%d" % minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    found = list(filter(shutil.which, names))
    remedy = "select another" if found else "install one of these and select it"
    return "Python %d.%d is too old, mh4 runs on %s: %s, as in `make setup PYTHON=%s`." % (
        version + (VERSIONS, remedy, (found or ["python3.11"])[0])
    )


class Environment:
    """The folder .venv, and the record of what is complete in it.

    While a step runs, the record contains its name. So after any interruption, even an abrupt one, .venv is made anew.
    """

    def __init__(self, root, console, jobs):
        self.root, self.folder, self.console, self.jobs = root, root / ".venv", console, jobs
        self.python, self.file, self.work = self.folder / "bin" / "python", self.folder / "mh4-setup.json", root / "build"
        self.record = record(root)
        if self.record.get("march"):  # it stays selected until MH4_MARCH has another value
            os.environ.setdefault("MH4_MARCH", self.record["march"])
        self.env = clean_environment(os.environ)

    def wanted(self):
        """Return the record of a complete environment, for the current sources."""
        charts = "mh4/decoders/charts/*/*"
        return {
            "python": {"abi": sysconfig.get_config_var("SOABI"), "executable": executable()},
            "tools": BUILD_TOOLS,
            "dynet": dynet_wheel.BUILD,
            "march": dynet_wheel.march(),
            "processor": dynet_wheel.processor(),
            "package": self.digest("pyproject.toml", "setup.py"),
            "decoders": self.digest("mh4/*/*.pyx", "mh4/*/*.pxd", charts + ".h*", charts + ".cc", charts + ".py"),
        }

    def digest(self, *patterns):
        """Return a digest of the names and contents of the files that match these patterns."""
        paths = sorted(path for pattern in patterns for path in self.root.glob(pattern) if path.name != GENERATED)
        texts = ["%s %s" % (path.relative_to(self.root), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    def has(self, *names):
        """Return whether these entries of the record are as they should be."""
        wanted = self.wanted()
        return self.record.get("doing") is None and all(self.record.get(name) == wanted[name] for name in names)

    def runs(self, code):
        """Return whether the Python of .venv runs this code without an error."""
        command = [str(self.python), "-c", code]
        return self.python.exists() and not subprocess.run(command, capture_output=True, env=self.env, cwd=self.folder).returncode

    def is_compiled(self):
        """Return whether every decoder is compiled."""
        suffix = ".%s.so" % sysconfig.get_config_var("SOABI")
        return all(path.with_suffix(suffix).exists() for path in self.root.glob("mh4/*/*.pyx"))

    def is_ready(self):
        """Return whether there is nothing to do."""
        return self.has(*self.wanted()) and self.is_compiled() and self.runs("import mh4, numpy, dynet")

    @contextmanager
    def step(self, label, *names):
        """Perform a step that completes these entries of the record. A step that fails can be repeated."""
        if label:
            self.console.step(label)
        self.write(doing=names)
        try:
            yield
        except InputError:
            self.write(doing=None)
            raise
        self.write(doing=None, **{name: self.wanted()[name] for name in names})

    def write(self, **changes):
        self.record.update(changes)
        with atomic_path(str(self.file)) as temporary:
            Path(temporary).write_text(json.dumps(self.record, indent=2, sort_keys=True))

    def set_up(self):
        """Perform the remaining steps, with the current Python. Raises InputError if a step fails."""
        for module in ("venv", "ensurepip"):  # Debian packages them separately
            if subprocess.run([sys.executable, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode:
                raise InputError(
                    "Python's module %s is missing: install it, on Debian or Ubuntu with `apt install python3-venv`." % module
                )
        env = find_compiler(self.env)
        if not self.record and self.folder.exists():
            raise InputError("the folder %s was not made by `make setup`: move it away or delete it." % self.folder)
        anew = not (self.has("python") and self.runs("import numpy"))
        wheel = None
        if anew or not self.has(*OF_DYNET):  # first, as it takes longest and may fail
            wheel = dynet_wheel.wheel(self.console, self.jobs, str(self.work), env)
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "2", "install"]
        if not env.get("PYTHONDONTWRITEBYTECODE"):
            pip.append("--no-compile")  # Python compiles what it imports, a small part
        if anew:
            self.remove()
            self.folder.mkdir()
        if not self.has("python", "tools"):
            with self.step("Environment .venv with Python %d.%d.%d" % sys.version_info[:3], "python", "tools"):
                failure = "the environment .venv could not be created"
                self.console.run([sys.executable, "-m", "venv", str(self.folder)], env, failure=failure)
                self.console.run(pip + BUILD_TOOLS, env, failure=failure)
        if wheel:
            with self.step(None, *OF_DYNET):
                dynet_wheel.install(str(self.python), wheel, self.console, env)
        if not self.has("package"):  # this compiles all decoders
            with self.step("mh4: compiling the decoders, installing the command line", "package", "decoders"):
                install = [*pip, "--no-build-isolation", "--group", "dev", "--editable", "."]
                both = ["sh", "-c", COMPILE_AND_INSTALL % self.jobs, str(self.python), *install]
                self.console.run(both, env, str(self.root), failure="mh4 could not be installed")
        elif not (self.has("decoders") and self.is_compiled()):  # this compiles changed decoders
            with self.step("mh4: compiling the decoders", "decoders"):
                build = [str(self.python), "setup.py", "build_ext", "--inplace", "--parallel=%d" % self.jobs]
                self.console.run(build, env, str(self.root), failure="the decoders could not be compiled")
        self.console.done()

    def remove(self):
        """Remove .venv by renaming it first, so that a half-deleted folder is never taken for a complete one."""
        old = self.work / "old-venv"
        shutil.rmtree(str(old), ignore_errors=True)
        if self.folder.exists():
            self.folder.rename(old)
            shutil.rmtree(str(old), ignore_errors=True)
        self.record = {}


def record(root):
    """Return the record of .venv, empty if there is none."""
    try:
        return json.loads((root / ".venv" / "mh4-setup.json").read_text())
    except (OSError, ValueError):
        return {}


def make_ready(root, console, options):
    """Make .venv ready. Only one process at a time does this."""
    with open(str(root / "build" / "setup.lock"), "w") as file:
        lock(file.fileno(), console.waits)
        environment = Environment(root, console, processes(options.jobs))
        ready = environment.is_ready()
        if not ready:
            Path(console.log).write_bytes(b"")
            if sys.version_info[:2] > NEWEST:
                text = "Warning: Python %d.%d is newer than those that mh4 was tested with, %s: if something fails, select one of these."
                console.say(text % (sys.version_info[:2] + (VERSIONS,)))
            environment.set_up()
    if not (ready and options.quiet):
        console.say("mh4 is set up: .venv/bin/mh4 --help")


def main(root=ROOT):
    parser = argparse.ArgumentParser(prog="make setup", description="Sets up .venv to run mh4.")
    parser.add_argument("--this-python", action="store_true", help="recreate .venv if it has another Python")
    parser.add_argument("--jobs", help="the most compilers at a time (default: one for each core, as memory allows)")
    parser.add_argument("--quiet", action="store_true", help="print nothing if there is nothing to do")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        (root / "build").mkdir(exist_ok=True)
        make_ready(root, Console(str(root / "build" / "setup.log")), options)
    except InputError as error:
        sys.exit("mh4: %s" % error)
    except OSError as error:  # a full disk, a folder without write permission
        sys.exit("mh4: %s: %s" % (error.filename or root / "build", error.strerror or error))
    except KeyboardInterrupt:
        print("mh4: interrupted; run the same command again.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    try:
        earlier = record(ROOT)["python"]["executable"]
    except (LookupError, TypeError):
        earlier = executable()
    if earlier != executable() and "--this-python" not in sys.argv and os.access(earlier, os.X_OK):
        # Use another Python than that of .venv only if it was selected: a later `make test` need not select it again.
        os.execv(earlier, [earlier] + sys.argv)
    if complaint(sys.version_info[:2]):
        sys.exit("mh4: " + complaint(sys.version_info[:2]))

if sys.version_info >= OLDEST:
    sys.path.insert(0, str(ROOT))  # for mh4
    from mh4.dynet_build import dynet_wheel
    from mh4.dynet_build.compilers import clean_environment, find_compiler, processes
    from mh4.dynet_build.console import Console
    from mh4.errors import InputError
    from mh4.util.files import atomic_path, lock

if __name__ == "__main__":
    main()
