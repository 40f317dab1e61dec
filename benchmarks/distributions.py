"""Measure the time for distributions over trees in PyTorch with random scores: mh4.torch beside two other libraries.

The others are SuPar's MatrixTree and torch-struct's NonProjectiveDependencyCRF, whose distribution is that of mst.

    make torch-environment
    .venv-torch/bin/python -m pip install supar torch-struct
    .venv-torch/bin/python benchmarks/distributions.py [--rounds N] [--training LOG] >benchmarks/results/torch.md

Libraries that are not installed have no column. --training adds the scores in LOG, which is the output of a training of
examples/torch_parser.py on the Hungarian treebank of UD 2.0 with default settings. First, results of libraries that
compute the same are compared. Then the libraries take turns on one thread, and the best time of each is reported.
"""

import argparse
import importlib.metadata
import os
import re
import statistics
from pathlib import Path

import torch
from batches import microseconds, random_scores
from common import page, table

from mh4.parser.config import Training
from mh4.torch import TreeDistribution

SENTENCES, WORDS = 64, (10, 20, 40)
MEASURED = ("log_partition", "marginals", "argmax")
OURS, SUPAR, STRUCT, MH4 = "mh4.torch, mst", "SuPar, MatrixTree", "torch-struct, NonProjectiveDependencyCRF", "mh4.torch, mh4"
PACKAGES = {SUPAR: "supar", STRUCT: "torch-struct"}


def ours(name, words):
    """Return scores, lengths, and functions that compute the measured properties of a distribution over trees.

    The scores of mst are (B, N+1, N+1), by head and dependent.
    """
    scores = {tensor: torch.from_numpy(numbers) for tensor, numbers in random_scores(name, words, SENTENCES).items()}
    lengths = torch.full((SENTENCES,), words)
    found = {each: lambda each=each: getattr(TreeDistribution(name, scores, lengths, threads=1), each) for each in MEASURED}
    return scores, lengths, found


def supar(arcs, lengths):
    """Return the same functions of SuPar, whose scores are by dependent and head."""
    from supar.structs import MatrixTree

    by_dependent = arcs.transpose(1, 2).contiguous()

    def heads():
        found = MatrixTree(by_dependent, lengths).argmax
        found[:, 0] = -1  # SuPar has 0 here
        return found

    return {
        "log_partition": lambda: MatrixTree(by_dependent, lengths).log_partition,
        "marginals": lambda: MatrixTree(by_dependent.detach().requires_grad_(), lengths).marginals.transpose(1, 2),
        "argmax": heads,
    }


def torch_struct(arcs, lengths):
    """Return the same functions of torch-struct, except for argmax, which it lacks.

    Its score tensor has words only, with arcs from the root on the diagonal.
    """
    from torch_struct import NonProjectiveDependencyCRF

    diagonal = torch.arange(arcs.shape[1] - 1)
    of_words = arcs[:, 1:, 1:].clone()
    of_words[:, diagonal, diagonal] = arcs[:, 0, 1:]

    def marginals():
        found = NonProjectiveDependencyCRF(of_words.detach().requires_grad_(), lengths).marginals
        arcs = torch.nn.functional.pad(found, (1, 0, 1, 0))
        arcs[:, 0, 1:] = found[:, diagonal, diagonal]
        arcs[:, diagonal + 1, diagonal + 1] = 0
        return arcs

    return {"log_partition": lambda: NonProjectiveDependencyCRF(of_words, lengths).partition, "marginals": marginals}


def ways(words):
    """Return functions without arguments, by library and by measured property."""
    scores, lengths, mst = ours("mst", words)
    found = {OURS: mst}
    for library, function in ((SUPAR, supar), (STRUCT, torch_struct)):
        if version(library):
            found[library] = function(scores["arcs"], lengths)
            for each, call in found[library].items():
                torch.testing.assert_close(
                    call().detach(), mst[each](), atol=1e-3, rtol=0, msg="%s: %s differs" % (library, each)
                )
    *_, found[MH4] = ours("mh4", words)
    return found


def version(library):
    """Return the version of a library's package, or None if it is not installed."""
    try:
        return importlib.metadata.version(PACKAGES[library])
    except importlib.metadata.PackageNotFoundError:
        return None


def measured(rounds):
    """Return a Markdown table: microseconds, and in brackets the ratio to ours."""
    rows = []
    for words in WORDS:
        found = ways(words)
        for each in MEASURED:
            times = microseconds({library: of[each] for library, of in found.items() if each in of}, SENTENCES, rounds)
            ratios = {library: "%.3g (%.2f)" % (taken, taken / times[OURS]) for library, taken in times.items()}
            rows.append(["`%s`" % each, words, *(ratios.get(library, "") for library in found)])
    return table(["", "words", *found], rows)


def training(log):
    """Return the section on the scores and the speed of a training of the example."""
    line = re.compile(r"(\d+) updates: UAS ([\d.]+), LAS ([\d.]+), (\d+) tokens/s")
    evaluations = [found.groups() for found in line.finditer(Path(log).read_text())]
    best = max(range(len(evaluations)), key=lambda k: float(evaluations[k][1]))
    after, uas, las, _ = evaluations[best]
    stopped = "" if len(evaluations) - best > Training.patience else " (when training was stopped; it had not converged)"
    return (
        "## A parser\n\n    OMP_NUM_THREADS=1 python examples/torch_parser.py train --train hu-ud-train.conllu "
        "--dev hu-ud-dev.conllu --model hu.pt | tee hu.log\n\n"
        "On the Hungarian treebank of UD 2.0, `mh4-hybrid` with a large margin and a bi-LSTM as large as in `mh4 train`: "
        "UAS %s and LAS %s on dev, the best of the evaluations in %s updates%s, after %s; %.0f tokens per second of processor time. "
        "`mh4 train` reaches [more](../../experiments/results/report.md) in [less time](training.md)."
        % (uas, las, evaluations[-1][0], stopped, after, statistics.median(float(each[3]) for each in evaluations))
    )


def main():
    parser = argparse.ArgumentParser(description="Time for distributions over trees in PyTorch.")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="turns of each")
    parser.add_argument("--training", metavar="LOG", help="what examples/torch_parser.py has printed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    times, versions = measured(options.rounds), {"PyTorch": torch.__version__}
    versions.update((library.partition(",")[0], version(library)) for library in PACKAGES if version(library))
    absent = [library for library in PACKAGES if not version(library)]
    page(
        "Distributions over trees in PyTorch",
        "distributions.py",
        ", ".join("%s %s" % each for each in versions.items()) + ".",
        "Microseconds of wall time for a sentence with random float32 scores, the best of %d turns on one thread, in batches of %d. "
        "In brackets, the ratio to the first column." % (options.rounds, SENTENCES),
        "Sums are computed in float64 by mh4.torch, in float32 by the others. No gradient of `log_partition` is asked for; `marginals` "
        "are this gradient. For mst, all were compared first: sums agree within 0.001, heads exactly.",
        times,
        *("%s is not installed." % library for library in absent),
        *(["torch-struct has no argmax of this distribution."] if version(STRUCT) else []),
        *([training(options.training)] if options.training else []),
        cores=os.cpu_count() or 1,
    )


if __name__ == "__main__":
    main()
