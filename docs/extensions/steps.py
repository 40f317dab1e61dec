"""The steps of MH4's best deduction, by mh4/decoders/reference.py, for the directive `chart`."""

import numpy as np

from mh4.decoders.reference import BEST, deduce, deductions, transition, transition_scores
from mh4.transitions import SH, Configuration, Transition


def best_steps(n: int, *tensors: np.ndarray, arcs: np.ndarray) -> list[dict]:
    """The steps of MH4's best deduction, each with the configuration of the parser after it. tensors, arcs: as for `mh4.decode`."""
    shift, link = transition_scores(*tensors, arcs=arcs)
    chart, steps, configuration = deduce(n, 4, BEST, shift, link), [], Configuration(n)

    def gain(used, arc):
        return link(*used, *arc) if arc else shift(*used[0][-2:]) if used else 0.0

    def unfold(item):
        used, arc = max(deductions(item, n, 4), key=lambda way: sum(map(chart.get, way[0])) + gain(*way))
        for antecedent in used:
            unfold(antecedent)
        code = transition(*used, *arc)[0] if arc else None if used else SH
        if code is not None:
            configuration.apply(code)
        steps.append(
            {
                "rule": "link" if arc else "combine" if used else "shift" if item[0] else "axiom",
                "item": item,
                "used": used,
                "score": round(chart[item], 2),
                "gained": round(gain(used, arc), 2),
                "transition": "" if code is None else str(Transition(code)),
                "arc": arc,
                "stack": list(configuration.stack),
                "b0": configuration.b0,
                "attached": np.flatnonzero(configuration.heads >= 0).tolist(),
            }
        )

    unfold((0, n + 1))
    return steps
