"""`mh4 install-dynet`: DyNet for an mh4 that was installed by pip."""

import os
import sys

from mh4.dynet_build import dynet_wheel
from mh4.dynet_build.compilers import clean_environment, find_compiler, processes
from mh4.dynet_build.console import Console
from mh4.errors import InputError


def install(jobs: int | None = None) -> None:
    """Install DyNet for the Python that runs this, from a wheel that is in the cache or built now, with `jobs` compilers at a time.

    Raises InputError, leaving nothing half-installed.
    """
    jobs = processes(jobs)
    env = clean_environment(os.environ)
    compiler = find_compiler(env)
    work = os.path.join(dynet_wheel.wheel_folder(), "build")
    console = Console(os.path.join(work, "log"))
    with dynet_wheel.locked(work, console):  # two at once would also get into each other's way in pip
        try:
            wheel = dynet_wheel.wheel(console, compiler, jobs, work, env)
            console.step("DyNet %s: installing" % dynet_wheel.VERSION)
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
            failure = "DyNet could not be installed from %s" % wheel
            console.run([*pip, "--no-deps", "--no-index", "--force-reinstall", wheel], env, failure=failure)
            try:
                console.run([sys.executable, "-c", dynet_wheel.CHECK], env, failure="DyNet was built but does not run")
            except InputError:
                dynet_wheel.forget(wheel, console)  # it may have been damaged: the next attempt builds it again
                raise
            console.done()
        finally:
            console.stop()
