"""Environments beside .venv, made with its Python: `second_environment.py NAME` makes .venv-NAME, if it is not up to date.

Each has what only some targets of make need, so that neither `make setup` nor the tests need these packages and the dozens that come
with them, and so that they never decide which version of click or numpy mh4 runs with.
"""

import glob
import os
import shutil
import sys
from dataclasses import dataclass

from environment import ROOT, exit_code, pip_install

from mh4.dynet_build.compilers import clean_environment
from mh4.errors import InputError


@dataclass
class SecondEnvironment:
    """what: its requirements are. target: of make. uses_mh4: whether it sees the packages of .venv, behind its own."""

    name: str
    what: str
    target: str
    requirements: list
    uses_mh4: bool = True

    def __post_init__(self):
        self.folder = os.path.join(ROOT, ".venv-" + self.name)
        self.python = os.path.join(self.folder, "bin", "python")
        self.done = os.path.join(self.folder, "mh4-requirements.txt")  # written last

    def record(self):
        """What the environment is made from."""
        return "\n".join(self.requirements + ([os.path.realpath(sys.executable)] if self.uses_mh4 else []))

    def is_ready(self):
        try:
            with open(self.done) as file:
                return file.read() == self.record() and os.access(self.python, os.X_OK)
        except OSError:
            return False

    def set_up(self, console):
        if self.is_ready():  # by now
            return
        if os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(ROOT, ".venv")):
            raise InputError("%s is installed with the Python of .venv: use `make %s`." % (self.what, self.target))
        open(console.log, "w").close()
        env = clean_environment(os.environ)
        console.step("Environment .venv-%s with %s" % (self.name, self.what))
        shutil.rmtree(self.folder, ignore_errors=True)
        failure = "%s could not be installed" % self.what
        console.run([sys.executable, "-m", "venv", self.folder], env, failure=failure)
        console.run(pip_install(self.python) + self.requirements, env, failure=failure)
        if self.uses_mh4:
            (packages,) = glob.glob(os.path.join(glob.escape(self.folder), "lib", "python*", "site-packages"))
            (of_mh4,) = glob.glob(os.path.join(glob.escape(ROOT), ".venv", "lib", "python*", "site-packages"))
            with open(os.path.join(packages, "mh4.pth"), "w") as file:  # unlike a plain path, this follows the .pth files there
                file.write("import site; site.addsitedir(%r)\n" % of_mh4)
        with open(self.done, "w") as file:
            file.write(self.record())
        console.done()


SNAKEMAKE = ["snakemake>=9.27,<10", "snakemake-executor-plugin-slurm>=2.8,<3"]
SPHINX = ["sphinx>=8,<10", "myst-parser>=4,<6", "furo>=2024.8", "sphinx-click>=6,<7", "nbformat>=5.1,<6"]
TORCH = ["torch==2.13.0", "transformers==5.23.0", "jax==0.10.2"]
ENVIRONMENTS = [
    SecondEnvironment("workflow", "Snakemake", "paper", SNAKEMAKE, uses_mh4=False),
    SecondEnvironment("docs", "Sphinx", "docs", SPHINX),
    SecondEnvironment("torch", "PyTorch", "torch-test", TORCH),
    SecondEnvironment("spacy", "spaCy", "spacy-test", ["spacy>=3.8,<4"]),
]

if __name__ == "__main__":
    (asked,) = [each for each in ENVIRONMENTS if each.name == sys.argv[1]]
    sys.exit(0 if asked.is_ready() else exit_code("setup-%s.log" % asked.name, asked.set_up))
