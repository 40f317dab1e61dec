"""Plot training curves: dev UAS and loss by updates and by minutes, from the evaluations in metrics.jsonl."""

import json
import math
import os
import re
from collections.abc import Sequence
from itertools import cycle
from typing import NoReturn

from mh4.errors import InputError, on_line, one_line, unreadable
from mh4.util import reading
from mh4.util.plots import plotted

METRICS = "metrics.jsonl"  # in the folder of a model
MOST = 1 << 28  # bytes
AXES = {"updates": ("updates", 1), "seconds": ("minutes", 60)}
CURVES = {"dev_uas": "UAS on dev, %", "loss": "loss per word"}

Curve = list[dict[str, float]]  # a dict for each evaluation


def runs(paths: Sequence[str]) -> dict[str, Curve]:
    """Read the curves of the trainings in or below these folders, named by the parts of the paths that differ.

    Raises InputError for a folder that cannot be read or has no trainings, and for damaged evaluations.
    """
    curves: dict[str, Curve] = {}
    for path in paths:
        folders = sorted(folder for folder, _, files in os.walk(path, onerror=_stop) if METRICS in files)
        found = {folder: curve for folder in folders if (curve := _read(os.path.join(folder, METRICS)))}
        if not found:
            raise InputError("%s: no training has been evaluated there (no line of %s)" % (path, METRICS))
        curves |= found
    common = os.path.commonpath([os.path.dirname(os.path.abspath(folder)) for folder in curves])
    return {one_line(os.path.relpath(folder, common)): curve for folder, curve in curves.items()}


def _stop(error: OSError) -> NoReturn:
    raise unreadable(str(error.filename), error)


def _read(path: str) -> Curve:
    """Return the evaluations in a file, whose last line may still be incomplete."""
    lines, curve = reading.text(path, MOST).split("\n")[:-1], []
    for number, line in enumerate(lines, start=1):
        try:
            evaluation = {name: float(json.loads(line)[name]) for name in (*AXES, *CURVES)}
        except (ValueError, KeyError, TypeError, OverflowError):
            evaluation = {}
        if not evaluation or not all(map(math.isfinite, evaluation.values())):
            raise InputError("%s: damaged: expected an evaluation with %s" % (on_line(path, number), ", ".join((*AXES, *CURVES))))
        curve.append(evaluation)
    return curve


def plot(path: str, curves: dict[str, Curve]) -> None:
    """Draw a line for each training. path, and errors: see plots.plotted.

    Trainings in one folder share a colour, unless all are in the same folder.
    """
    kinds = [os.path.dirname(name) for name in curves]
    if len(set(kinds)) == 1:
        kinds = list(curves)
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    colours = ["C%d" % (numbers[kind] % 10) for kind in kinds]
    lines = {colour: cycle(("-", "--", ":", "-.")) for colour in colours}
    styles = [next(lines[colour]) for colour in colours]
    with plotted(path, 12, 7 + 0.08 * len(curves)) as figure:
        panels = figure.subplots(len(CURVES), len(AXES), sharex="col", sharey="row")
        for row, (score, title) in zip(panels, CURVES.items(), strict=True):
            row[0].set_ylabel(title)
            for axes, (time, (_, size)) in zip(row, AXES.items(), strict=True):
                for (name, curve), colour, style in zip(curves.items(), colours, styles, strict=True):
                    values = [one[time] / size for one in curve], [one[score] for one in curve]
                    label = re.sub("^_", "./_", name)  # matplotlib leaves _NAME out of the legend
                    axes.plot(*values, style, label=label, color=colour)
                axes.grid(alpha=0.3)
        for axes, (unit, _) in zip(panels[-1], AXES.values(), strict=True):
            axes.set_xlabel(unit)
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
