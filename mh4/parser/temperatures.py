"""The temperatures of a model, which calibrate its probabilities of arcs and of labels.

Scores are divided by the temperatures before probabilities are computed (Guo, Pleiss, Sun & Weinberger, ICML 2017).
Temperatures are fitted at the end of training (mh4.training.calibration) and stored in calibration.json, in the model
folder.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass

import numpy as np

from mh4.parser.model_files import Folder
from mh4.util import memory
from mh4.util.files import write_text

FILE = "calibration.json"


@dataclass(frozen=True)
class Temperatures:
    """The best temperatures of a model.

    temperature: the best for arcs. nll, uncalibrated_nll: the average -log of the probability of a gold arc, in nats,
    at this temperature and at 1.
    label_temperature: the best for labels; 1 in models that were made before it was fitted.
    """

    temperature: float
    nll: float
    uncalibrated_nll: float
    label_temperature: float = 1.0

    def save(self, folder: str) -> None:
        write_text(os.path.join(folder, FILE), json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def load(cls, files: Folder) -> "Temperatures | None":
        """Return the calibration of a model; None if it has none. Raises InputError if it is damaged."""
        if not files.has(FILE):
            return None
        with files.intact(FILE):
            found = cls(**files.record(FILE))
            temperatures = found.temperature, found.label_temperature
            if not all(type(number) in (int, float) for number in astuple(found)) or not all(
                1e-6 < t < 1e6 for t in temperatures
            ):
                raise ValueError
        return found


def at_temperature(tensors: Mapping[str, np.ndarray], temperature: float) -> dict[str, np.ndarray]:
    """Return scores divided by a temperature; one above 1 makes probabilities less extreme.

    Raises MemoryError if there is too little memory.
    """
    memory.require(sum(tensor.nbytes for tensor in tensors.values()), "scores at a temperature")
    return {name: tensor / np.float32(temperature) for name, tensor in tensors.items()}
