"""Builds .venv step by step, skipping steps that are already up to date.

Each step is recorded in .venv/mh4-setup.json before it begins and after it is complete, so that a setup that was interrupted,
however abruptly, knows what it cannot trust.
"""

import argparse
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import contextmanager, suppress

from versions import executable, warning

from mh4.dynet_build import dynet_wheel
from mh4.dynet_build.compilers import clean_environment, find_compiler, processes
from mh4.dynet_build.console import Console
from mh4.errors import InputError
from mh4.util.files import lock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Build tools stay in .venv, since the decoders are recompiled whenever they change: those of pyproject.toml, and numpy for DyNet.
BUILD_TOOLS = ["pip>=21.3", "setuptools>=77", "cython>=3.1", "numpy"]

# The optional dependencies in pyproject.toml to install in .venv: those of all commands and targets of the repository.
EXTRAS = ["test", "evaluate", "plots", "text", "zstd", "contextual", "corpus", "serve", "lint"]

GENERATED = "recurrences.hpp"  # by setup.py, from the files in mh4/decoders/charts/oneec


def check_python():
    """Raises InputError if .venv cannot be created with this Python."""
    for module in ("venv", "ensurepip"):  # Debian packages them separately
        if subprocess.run([sys.executable, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode:
            raise InputError(
                "Python's module %s is missing: install it, on Debian or Ubuntu with `apt install python3-venv`." % module
            )


def files(*patterns):
    """The files of the repository that match the patterns."""
    return [path for pattern in patterns for path in glob.glob(os.path.join(glob.escape(ROOT), pattern))]


def digest(paths):
    """One digest of the names and contents of files."""
    total = hashlib.sha256()
    for path in sorted(paths):
        with open(path, "rb") as file:
            content = file.read()
        total.update(("%s %d " % (os.path.relpath(path, ROOT), len(content))).encode() + content)
    return total.hexdigest()


def pip_install(python):
    """The command that installs, with a Python's pip, the packages that are appended to it."""
    return [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "2", "install"]


class Environment:
    """The folder .venv and the record of what is complete in it."""

    def __init__(self, folder, console, jobs=None):
        self.folder = folder
        self.python = os.path.join(folder, "bin", "python")
        self.record_path = os.path.join(folder, "mh4-setup.json")
        self.console = console
        self.jobs = processes(jobs)
        self.work = os.path.join(ROOT, "build")
        self.env = clean_environment(os.environ)
        self.record = {}

    def read(self):
        self.record = {}
        with suppress(OSError, ValueError), open(self.record_path) as file:
            self.record = json.load(file)

    def write(self, **changes):
        self.record.update(changes)
        temporary = os.path.join(self.work, "mh4-setup.json")  # not in .venv, which must be empty or have a record
        with open(temporary, "w") as file:
            json.dump(self.record, file, indent=2, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.record_path)

    def wanted(self):
        """The record of a complete setup, for the current sources."""
        return {
            "python": {"abi": sysconfig.get_config_var("SOABI"), "executable": executable()},
            "processor": dynet_wheel.processor(),
            "tools": BUILD_TOOLS,
            "dynet": dynet_wheel.BUILD,
            "package": " ".join([digest(files("pyproject.toml", "setup.py"))] + EXTRAS),
            "decoders": digest(decoders_sources()),
        }

    def runs(self, code):
        """Whether the Python of .venv runs this code without an error."""
        try:
            return not subprocess.run(
                [self.python, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=self.env, cwd=self.folder,
            ).returncode  # fmt: skip
        except OSError:
            return False

    def decoders_are_there(self):
        suffix = "." + self.record["python"]["abi"] + ".so"
        return all(os.path.exists(os.path.splitext(path)[0] + suffix) for path in files("mh4/*/*.pyx"))

    def is_ready(self):
        """Whether there is nothing to do."""
        return (
            self.record.get("doing") is None
            and all(self.record.get(key) == value for key, value in self.wanted().items())
            and self.decoders_are_there()
            and self.runs("import mh4, numpy, dynet")
        )

    def set_up(self):
        """Performs the remaining steps, with the Python that runs this. Raises InputError."""
        check_python()
        wanted = self.wanted()
        env = find_compiler(self.env)
        os.makedirs(self.work, exist_ok=True)
        trusted = self.is_to_be_trusted(wanted)
        wheel = None
        if not trusted or self.record.get("dynet") != wanted["dynet"]:  # first, as it takes longest and may fail
            wheel = dynet_wheel.wheel(self.console, self.jobs, self.work, env)
        if not trusted:
            self.remove()

        pip = pip_install(self.python)

        if self.record.get("tools") != wanted["tools"]:
            self.console.step("Environment .venv with Python %d.%d.%d" % sys.version_info[:3])
            os.makedirs(self.folder, exist_ok=True)
            failure = "the environment .venv could not be created"
            with self.recording({key: wanted[key] for key in ("tools", "python", "processor")}):
                self.console.run([sys.executable, "-m", "venv", self.folder], env, failure=failure)
                self.console.run(pip + BUILD_TOOLS, env, failure=failure)

        if wheel:
            with self.recording({"dynet": wanted["dynet"]}):
                dynet_wheel.install(self.python, wheel, self.console, env)

        if self.record.get("package") != wanted["package"]:
            self.console.step("mh4: compiling the decoders, installing the command line")
            failure = "mh4 could not be installed"
            with self.recording({key: wanted[key] for key in ("package", "decoders")}):
                package = "%s[%s]" % (ROOT, ",".join(EXTRAS))
                self.console.run(pip + ["--no-build-isolation", "--editable", package], env, failure=failure)
        elif self.record.get("decoders") != wanted["decoders"] or not self.decoders_are_there():
            self.console.step("mh4: compiling the decoders")
            build = [self.python, os.path.join(ROOT, "setup.py"), "build_ext", "--inplace"]
            with self.recording({"decoders": wanted["decoders"]}):
                self.console.run(build, env, ROOT, failure="the decoders could not be compiled")
        self.console.done()

    @contextmanager
    def recording(self, result):
        """Records that a step has begun, and its result once it is complete. A failed step can simply be retried; an
        interrupted one leaves its mark."""
        self.write(doing=sorted(result))
        try:
            yield
        except InputError:
            self.write(doing=None)
            raise
        self.write(doing=None, **result)

    def is_to_be_trusted(self, wanted):
        """Whether to continue from the existing state: made for this Python and processor, by uninterrupted steps."""
        if os.path.isdir(self.folder) and os.listdir(self.folder) and not self.record:
            raise InputError("the folder %s was not made by `make setup`: move it away or delete it." % self.folder)
        same = all(self.record.get(key) == wanted[key] for key in ("python", "processor"))
        return same and self.record.get("doing") is None and self.runs("import numpy")

    def remove(self):
        """Removes .venv, atomically, so that half of it is never mistaken for the whole, and all compiled files."""
        if os.path.isdir(self.folder):
            os.rename(self.folder, os.path.join(tempfile.mkdtemp(prefix="old-venv-", dir=self.work), ".venv"))
        for rest in files("build/old-venv-*", "build/lib.*", "build/temp.*"):
            shutil.rmtree(rest, ignore_errors=True)
        for path in files("mh4/*/*.cpp", "mh4/*/*.c"):
            os.unlink(path)
        self.record = {}


def decoders_sources():
    """The sources of the decoders."""
    sources = files(
        "mh4/*/*.pyx", "mh4/*/*.pxd", "mh4/decoders/charts/*/*.h*", "mh4/decoders/charts/*/*.cc", "mh4/decoders/charts/oneec/*.py"
    )
    return [path for path in sources if os.path.basename(path) != GENERATED]


def exit_code(log, work):
    """The exit code of `work`, which is given a console with this log; one process at a time works, and a failure is one sentence."""

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    folder = os.path.join(ROOT, "build")
    console = Console(os.path.join(folder, log))
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "setup.lock"), "w") as file:
            lock(file.fileno(), console.waits)
            work(console)
            return 0
    except InputError as error:
        code, said = 1, str(error)
    except OSError as error:  # a full disk, a folder without write permission
        code, said = 1, "%s: %s" % (error.filename or folder, error.strerror or error)
    except KeyboardInterrupt:
        code, said = 130, "interrupted; run the same command again."
    console.stop()
    print("mh4: " + said, file=sys.stderr)
    return code


def set_up(console, options):
    """Makes .venv ready."""
    environment = Environment(os.path.join(ROOT, ".venv"), console, jobs=options.jobs)
    environment.read()
    ready = environment.is_ready()
    if not ready:
        open(console.log, "w").close()
        untested = warning(sys.version_info[:2])
        if untested:
            console.say("Warning: " + untested)
        environment.set_up()
    if not (ready and options.quiet):
        console.say("mh4 is set up: .venv/bin/mh4 --help")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="make setup", description="Sets up .venv to run mh4.")
    parser.add_argument("--this-python", action="store_true", help="recreate .venv if it has another Python")
    parser.add_argument("--jobs", help="parallel compilers (default: the number of cores, as memory allows)")
    parser.add_argument("--quiet", action="store_true", help="print nothing if there is nothing to do")
    options = parser.parse_args(arguments)
    return exit_code("setup.log", lambda console: set_up(console, options))
