"""Run a Slurm of two nodes on this machine: munged, slurmctld and two slurmd, without systemd, in a scratch folder."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
CONF = Path("/etc/slurm/slurm.conf")  # SLURM_CONF is not enough for some processes that jobs start
NODES = {"n1": 26818, "n2": 26819}  # with their ports

TEMPLATE = """\
ClusterName=mh4test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=15
KillWait=5
PropagateResourceLimits=NONE
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Return why no Slurm can be started here; None if it can."""
    missing = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        return "there is no %s (on Debian: apt-get install slurm-wlm munge)" % ", ".join(missing)
    if os.geteuid() != 0:
        return "a Slurm can only be started by root"
    if os.path.lexists(CONF):
        return "this machine has a Slurm of its own, or another test is running (%s)" % CONF
    return None


class Cluster:
    """A context in which the commands of Slurm work. folder: an empty folder for its files."""

    def __init__(self, folder):
        self.folder, self.started = Path(folder), []

    def __enter__(self):
        for name in ("state", *("spool-" + node for node in NODES)):
            (self.folder / name).mkdir(parents=True)
        node = "NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=1 RealMemory=4000 State=UNKNOWN"
        host = socket.gethostname()
        nodes = "\n".join(node.format(name, host, port) for name, port in NODES.items())
        conf = self.folder / "slurm.conf"
        conf.write_text(TEMPLATE.format(host=host, folder=self.folder, nodes=nodes, names=",".join(NODES)))
        CONF.parent.mkdir(parents=True, exist_ok=True)
        CONF.symlink_to(conf)
        try:
            self._munge()
            self._start("slurmctld", "-c", "-D")
            for name in NODES:
                self.start_node(name)
            self._wait(lambda: self.asked("sinfo", "--noheader", "--format=%T", "--Node").split() == ["idle"] * len(NODES))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for process in reversed(self.started):
            process.kill()
            process.wait()
        for pid in (pid for name in NODES for pid in tasks(name)):
            kill(pid)
        if CONF.is_symlink() and os.readlink(CONF) == str(self.folder / "slurm.conf"):
            CONF.unlink()

    def _munge(self):
        if subprocess.run(["munge", "-n"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            for folder in ("/run/munge", "/var/log/munge"):
                os.makedirs(folder, exist_ok=True)
                shutil.chown(folder, "munge", "munge")
            self._start("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground")
            ask = ["munge", "-n"]
            self._wait(lambda: not subprocess.run(ask, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode)

    def _start(self, *command):
        env = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        with open(self.folder / "daemons.log", "ab") as log:
            process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def start_node(self, name):
        """Start the slurmd of a node."""
        setattr(self, name, self._start("slurmd", "-D", "-N", name))

    def kill_node(self, name):
        """Kill all processes of a node, as a power cut does."""
        process = getattr(self, name)
        process.kill()
        process.wait()
        for pid in tasks(name):
            kill(pid)

    def asked(self, *command):
        """Return the output of a command of Slurm; empty if it fails."""
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()

    def jobs(self, state, node=None):
        """Return the ids of the jobs in this state, on this node or on all."""
        words = ["squeue", "--noheader", "--array", "--format=%i", "--states=" + state]
        return self.asked(*words, *(["--nodelist=" + node] if node else [])).split()

    def _wait(self, condition):
        wait_for(condition, 60, "Slurm did not start: see %s" % self.folder)


def wait_for(condition, seconds, otherwise):
    """Wait until the condition holds, and return its value. If it takes more than `seconds`, exit with `otherwise`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise SystemExit(otherwise)


def tasks(node):
    """Return the processes of jobs on a node, and the slurmstepd that starts them: command lines by process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"SLURMD_NODENAME=%s\0" % node.encode() not in (folder / "environ").read_bytes():
                continue
            pid = int(folder.name)
            while pid == int(folder.name) or _stat(pid)[0] == "slurmstepd":
                found[pid] = Path("/proc", str(pid), "cmdline").read_text(errors="replace").split("\0")
                pid = _stat(pid)[1]
        except (OSError, ValueError):
            continue  # it has ended
    return found


def _stat(pid):
    """Return the name and the parent of a process."""
    before, _, after = Path("/proc", str(pid), "stat").read_text().rpartition(")")
    return before.partition("(")[2], int(after.split()[1])


def kill(pid):
    """Kill a process, if it exists."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
