"""Environments beside .venv, made with its Python: `second_environment.py NAME` makes .venv-NAME, if it is not up to date, with the
dependency group of this name in pyproject.toml.

Each has what only some targets of make need, so that neither `make setup` nor the tests need these packages and the dozens that come
with them, and so that they never decide which version of click or numpy mh4 runs with. It sees the packages of .venv, behind its own.
"""

import os
import shutil
import sys
import sysconfig
import tomllib

from environment import ROOT, exit_code, pip_install

from mh4.dynet_build.compilers import clean_environment


def main(name):
    folder = os.path.join(ROOT, ".venv-" + name)
    python = os.path.join(folder, "bin", "python")
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        requirements = tomllib.load(file)["dependency-groups"][name]
    record = os.path.join(folder, "mh4-requirements.txt")  # of what it was made from; written last
    wanted = "\n".join([*requirements, os.path.realpath(sys.executable)])

    def is_ready():
        try:
            with open(record) as file:
                return file.read() == wanted and os.access(python, os.X_OK)
        except OSError:
            return False

    def set_up(console):
        if is_ready():  # by now
            return
        open(console.log, "w").close()
        env, failure = clean_environment(os.environ), "the environment .venv-%s could not be made" % name
        console.step("Environment .venv-%s with %s" % (name, ", ".join(requirements)))
        shutil.rmtree(folder, ignore_errors=True)
        console.run([sys.executable, "-m", "venv", folder], env, failure=failure)
        console.run(pip_install(python) + requirements, env, failure=failure)
        own, of_mh4 = (sysconfig.get_path("purelib", "venv", {"base": place}) for place in (folder, sys.prefix))
        with open(os.path.join(own, "mh4.pth"), "w") as file:  # unlike a plain path, this follows the .pth files there
            file.write("import site; site.addsitedir(%r)\n" % of_mh4)
        with open(record, "w") as file:
            file.write(wanted)
        console.done()

    return 0 if is_ready() else exit_code("setup-%s.log" % name, set_up)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
