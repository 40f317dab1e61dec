"""Environments that are made with the Python of .venv, and see its packages behind their own.

Each has what only some targets of make need, so that neither `make setup` nor the tests need these packages and the dozens that come
with them, and so that they never decide which version of click or numpy mh4 runs with. Like the rest of the setup, one is skipped if it
is up to date.
"""

import glob
import os
import shutil
import sys

from environment import ROOT, exit_code

from mh4.dynet_build.compilers import clean_environment
from mh4.dynet_build.console import SetupError


class SecondEnvironment:
    """folder: its name. requirements: for pip. of: what they are. target: of make."""

    def __init__(self, folder, requirements, of, target):
        self.folder = os.path.join(ROOT, folder)
        self.requirements, self.of, self.target = requirements, of, target
        self.done = os.path.join(self.folder, "mh4-requirements.txt")  # written last

    def record(self):
        """What the environment is made from."""
        return "\n".join([*self.requirements, os.path.realpath(sys.executable)])

    def is_ready(self):
        try:
            with open(self.done) as file:
                return file.read() == self.record() and os.access(os.path.join(self.folder, "bin", "python"), os.X_OK)
        except OSError:
            return False

    def set_up(self, console):
        if self.is_ready():  # by now
            return
        if os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(ROOT, ".venv")):
            raise SetupError("%s is installed with the Python of .venv: use `make %s`." % (self.of, self.target))
        open(console.log, "w").close()
        env = clean_environment(os.environ)
        console.step("Environment %s with %s" % (os.path.basename(self.folder), self.of))
        shutil.rmtree(self.folder, ignore_errors=True)
        failure = "%s could not be installed" % self.of
        console.run([sys.executable, "-m", "venv", self.folder], env, failure=failure)
        pip = [
            os.path.join(self.folder, "bin", "python"),
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--no-input",
            "--retries",
            "2",
        ]
        console.run(pip + ["install"] + self.requirements, env, failure=failure)
        (packages,) = glob.glob(os.path.join(glob.escape(self.folder), "lib", "python*", "site-packages"))
        (of_mh4,) = glob.glob(os.path.join(glob.escape(ROOT), ".venv", "lib", "python*", "site-packages"))
        with open(os.path.join(packages, "mh4.pth"), "w") as file:  # unlike a plain path, this follows the .pth files there
            file.write("import site; site.addsitedir(%r)\n" % of_mh4)
        with open(self.done, "w") as file:
            file.write(self.record())
        console.done()

    def main(self, log):
        """The exit code."""
        return 0 if self.is_ready() else exit_code(log, self.set_up)
