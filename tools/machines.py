"""Tries mh4 on other systems, each in a chroot of its own: `make machines-test [MACHINES="trixie arm64"]`.

    python tools/machines.py [--folder FOLDER] [MACHINE ...]

A chroot has a Debian made by debootstrap, which stays in the folder for the next time, and a clean checkout of the current
commit. In it run the two commands of the README, on 64-bit ARM by qemu, where a cross-compiler keeps compilation from being
emulated; for other compilers, the decoders alone. The outcome is a row of the table in docs/reference/machines.md; those of
machines that are not tried now remain.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "machines.md"
BEGIN, END = "<!-- machines: written by make machines-test -->\n", "<!-- end of machines -->"
TITLES = (
    "machine",
    "system",
    "processor",
    "Python",
    "compiler",
    "C library",
    "decoders' digest",
    "toy treebank",
    "tests",
    "commit",
)
HOURS = 3  # at most, for each command
PACKAGES = "python3,python3-venv,python3-dev,make,git,ca-certificates"
# The decoders without DyNet, in an environment of their own.
DECODERS = """python3 -m venv .venv && .venv/bin/pip install -q setuptools 'cython>=3.1' numpy pytest hypothesis click rich conllu &&
.venv/bin/python setup.py -q build_ext --inplace"""
ALL = "make reproduce LANG=toy"
TESTS = "make test PYTEST=\"-q -m 'not slow' -p no:cacheprovider\""


@dataclass
class Machine:
    """A system to try: a suite of Debian, its architecture, more packages, what compiles, the set-up, and the tests."""

    suite: str
    compiler: str = "g++"
    packages: str = "g++"
    architecture: str = "amd64"
    foreign: str = ""  # packages of this machine's own architecture, which need no emulation
    variables: str = ""
    set_up: str = ALL
    tests: str = TESTS


def of_clang(library):
    compiler = "clang++ -stdlib=" + library
    tests = ".venv/bin/python -m pytest -q -m 'not slow' -p no:cacheprovider tests/decoders"
    return Machine(
        "sid", compiler, "clang libc++-dev libc++abi-dev", variables="CC=clang CXX='%s'" % compiler, set_up=DECODERS, tests=tests
    )


CROSS = "aarch64-linux-gnu-g++"
MACHINES = {
    "bookworm": Machine("bookworm"),
    "trixie": Machine("trixie"),
    "sid": Machine("sid"),
    "arm64": Machine(
        "trixie", CROSS, "", "arm64", "g++-aarch64-linux-gnu", "CC=aarch64-linux-gnu-gcc CXX=%s MH4_MARCH=armv8-a" % CROSS
    ),
    "clang-libstdc++": of_clang("libstdc++"),
    "clang-libc++": of_clang("libc++"),
}


def missing(machines):
    """What this machine lacks to make these chroots, in one sentence; None if nothing."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "machines are tried in chroots, which takes Linux and root: run it as root."
    if not shutil.which("debootstrap", path=os.environ["PATH"] + ":/usr/sbin"):
        return "debootstrap is missing: on Debian or Ubuntu, `apt install debootstrap`."
    if any(machine.architecture == "arm64" for machine in machines) and not os.path.exists(
        "/proc/sys/fs/binfmt_misc/qemu-aarch64"
    ):
        return (
            "programs for 64-bit ARM do not run here: on Debian or Ubuntu, `apt install qemu-user-static binfmt-support`, "
            "`mount -t binfmt_misc none /proc/sys/fs/binfmt_misc`, `update-binfmts --enable qemu-aarch64`."
        )
    return None


def run(chroot, command, log, environment=()):
    """Run a command of a shell in the folder /mh4 of a chroot, append its output to the log, and return its exit code and its output.

    Mounts and processes are in namespaces of their own: nothing of them remains, however the command ends."""
    script = """for folder in proc dev/shm dev/pts; do mkdir -p $0/$folder; done
mount -t proc proc $0/proc; mount -t tmpfs tmpfs $0/dev/shm; mount -t devpts -o newinstance,ptmxmode=0666 devpts $0/dev/pts
ln -sf pts/ptmx $0/dev/ptmx; exec timeout "$1" chroot $0 env -i "${@:3}" sh -c "cd /mh4 && $2" </dev/null"""
    variables = {
        name: value for name, value in os.environ.items() if re.match(r"PIP_|SSL_CERT|[a-z]+_proxy$", name, re.IGNORECASE)
    }
    variables |= {
        "HOME": "/root",
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "LC_ALL": "C.UTF-8",
        "PIP_ROOT_USER_ACTION": "ignore",
    }
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script]
    with open(log, "ab") as file:
        file.write(b"\n$ %s\n" % command.encode())
        file.flush()
        begin = file.tell()
        command = [
            *namespaces,
            str(chroot),
            "%dh" % HOURS,
            command,
            *("%s=%s" % item for item in variables.items()),
            *environment,
        ]
        code = subprocess.run(command, stdout=file, stderr=file).returncode
    with open(log, "rb") as file:
        file.seek(begin)
        return code, file.read().decode(errors="replace")


def make_chroot(machine, chroot, log):
    """Make a chroot, unless it is there, with pip's configuration and certificates of this machine."""
    if not chroot.exists():
        new = chroot.with_name(chroot.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        packages = ",".join([PACKAGES, *machine.packages.split()])
        options = ["--arch=" + machine.architecture, "--variant=minbase", "--include=" + packages]
        with open(log, "ab") as file:
            environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
            subprocess.run(["debootstrap", *options, machine.suite, new], check=True, stdout=file, stderr=file, env=environment)
        (new / "mh4").mkdir()
        if machine.foreign:
            add = (
                "dpkg --add-architecture amd64 && apt-get update && apt-get install -y --no-install-recommends %s:amd64"
                % machine.foreign
            )
            if run(new, add, log)[0]:
                sys.exit("mh4: %s could not be installed, see %s" % (machine.foreign, log))
        new.rename(chroot)
    own = glob("/etc/pip.conf") + glob("/etc/xdg/pip/*") + glob(os.path.expanduser("~/.config/pip/*"))
    certificates = [os.environ[name] for name in ("PIP_CERT", "SSL_CERT_FILE") if os.path.isfile(os.environ.get(name, ""))]
    for path in [*own, *certificates, "/etc/resolv.conf", "/etc/hosts"]:
        target = Path(str(chroot) + path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def try_machine(name, folder):
    """Try everything on a machine, and return its row."""
    machine, chroot, log = MACHINES[name], folder / name.partition("-")[0], folder / (name + ".log")
    log.unlink(missing_ok=True)
    make_chroot(machine, chroot, log)
    checkout = chroot / "mh4"
    shutil.rmtree(checkout)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, checkout], check=True)
    began = time.monotonic()

    def answer(command, pattern="(.*)"):
        code, output = run(chroot, command, log, shlex.split(machine.variables))
        found = re.findall(pattern, output.strip())
        return code, found[-1] if found else ""

    row = [name]
    for command, pattern in (
        (". /etc/os-release && echo $PRETTY_NAME", "(.+)"),
        ("uname -m", "(.+)"),
        ("python3 --version", "Python (.+)"),
        (machine.compiler + " --version", r"\A(?:.*? )?(?:version )?([\d.]+)"),
        ("ldd --version", r"\A.* ([\d.]+)"),
    ):
        row.append(answer(command, pattern)[1])
    row[4] = machine.compiler + " " + row[4]
    failed, score = answer(machine.set_up, r"(?:LAS|UAS) +([\d.]+)")
    score = "failed" if failed else "" if machine.set_up == DECODERS else score or "passed"
    row.append(answer(".venv/bin/python tests/decoders/digest.py", r"\A\d+ (\w{8})")[1])
    row.append("%s (%d min)" % (score, (time.monotonic() - began) // 60) if score else "")
    row.append(answer(machine.tests, r"(\d+ (?:passed|failed).*?) in [\d.]+s")[1] or "failed")
    return [*row, subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=-1, text=True).stdout.strip()]


def write(row):
    """Write a row into the table of the page, in the place of the one before."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {line.split("|")[1].strip(): line for line in table.strip().split("\n")[2:]}
    rows[row[0]] = "| %s |" % " | ".join(row)
    lines = ["| %s |" % " | ".join(TITLES), "|" + " --- |" * len(TITLES), *(rows[name] for name in MACHINES if name in rows)]
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument(
        "--folder", type=Path, default=Path(cache, "mh4", "machines"), help="of the chroots, by default in the cache"
    )
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="by default all: " + " ".join(MACHINES))
    options = parser.parse_args()
    names = options.machines or list(MACHINES)
    unknown = [name for name in names if name not in MACHINES]
    problem = "no machine %s, expected some of: %s" % (unknown[0], " ".join(MACHINES)) if unknown else None
    problem = problem or missing([MACHINES[name] for name in names])
    if problem:
        sys.exit("mh4: " + problem)
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        print("%s: output goes to %s" % (name, options.folder / (name + ".log")), flush=True)
        row = try_machine(name, options.folder)
        write(row)
        print(" | ".join(row), flush=True)
        failed += [name] if any("failed" in cell or "error" in cell for cell in row) or not row[6] else []
    if failed:
        sys.exit("mh4: something failed on: " + " ".join(failed))


if __name__ == "__main__":
    main()
