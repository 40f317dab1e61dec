"""A stand-in for ``mh4 train`` and ``mh4 parse`` that writes the same files but learns nothing.

Files in the folder $STAND_IN control it: `fail` (runs that fail), `slow` (a run that waits until the file is removed),
and `mute` (a run whose model cannot parse). Its scores depend only on the system and the seed. In its trees, the first
word is the root, and all others depend on it.
"""

import json
import os
import sys
import time
from pathlib import Path

from mh4.parser import config, systems

FOLDER = Path(os.environ["STAND_IN"])
if sys.argv[1] == "parse":
    _, model, file, _, output = sys.argv[2:]
    trained = json.loads(Path(model, "summary.json").read_text())
    name = "%(system)s-%(seed)d" % trained
    with open(FOLDER / "parses", "a") as calls:
        calls.write(json.dumps({"run": name, "file": os.path.basename(file), "env": dict(os.environ)}) + "\n")
    if (FOLDER / "mute").exists() and (FOLDER / "mute").read_text() == name:
        print("loading")
        print("mh4: weights.npz is damaged", file=sys.stderr)
        sys.exit(2)
    with open(file, encoding="utf-8", newline="") as lines, open(output, "w", encoding="utf-8", newline="") as parsed:
        for line in lines:
            cells = line.split("\t")
            if cells[0].isdigit():
                cells[6:8] = ["0", "root"] if cells[0] == "1" else ["1", "dep"]
            parsed.write("\t".join(cells))
    sys.exit(0)
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
folder, seed, system = Path(options["--model"]), int(options["--seed"]), options["--system"]
name = "%s-%d" % (system, seed)
with open(FOLDER / "calls", "a") as calls:
    calls.write(json.dumps({"run": name, "argv": sys.argv[1:], "env": dict(os.environ)}) + "\n")
if (folder / "summary.json").exists():
    print("finished already")
    sys.exit(0)
pairs = list(zip(sys.argv[2::2], sys.argv[3::2]))
files, changes = ([value for name, value in pairs if name == each] for each in ("--config", "--set"))
(folder / "config.toml").write_text(config.with_settings(systems.settings(files, system), changes).to_toml())
metrics = folder / "metrics.jsonl"
begun = len(metrics.read_text().splitlines()) if metrics.exists() else 0
scores = {"mh3": 83.0, "mst": 82.5, "mh4-two": 83.5, "mh4-hybrid": 84.5, "greedy-mh4-two": 60.0, "greedy-mh4-three": 82.0}
uas = {**scores, "greedy-mh4": 82.25, "mh3-arcs": 85.0, "mh4-arcs": 86.0}[system] + seed / 10
for evaluation in range(begun + 1, 4):
    if (FOLDER / "fail").exists() and name in (FOLDER / "fail").read_text().split():
        print("loading")
        print("mh4: hu-ud-train.conllu, line 7: a cycle", file=sys.stderr)
        sys.exit(2)
    line = {"evaluation": evaluation, "updates": 500 * evaluation, "epoch": evaluation / 4, "tokens_per_second": 1000.0}
    line.update(dev_uas=uas - 3 + evaluation, dev_las=uas - 8 + evaluation, best_dev_uas=uas - 3 + evaluation)
    with open(metrics, "a") as lines:
        lines.write(json.dumps({**line, "seconds": 100.0 * evaluation}) + "\n")
    while evaluation == 2 and (FOLDER / "slow").exists() and (FOLDER / "slow").read_text() == name:
        time.sleep(0.02)
summary = {"finished": True, "system": system, "seed": seed, "dev_uas": uas, "dev_las": uas - 5, "updates": 1500, "epochs": 7.5}
sources = {split: {"file": os.path.basename(options["--" + split]), "git_blob": ""} for split in ("train", "dev")}
summary.update(seconds=3725.0, tokens_per_second=1234.5, mh4="0", sources=sources)
(folder / "summary.json.part").write_text(json.dumps(summary))
os.replace(folder / "summary.json.part", folder / "summary.json")
