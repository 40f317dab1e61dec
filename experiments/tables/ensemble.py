"""Ensembles compared with their members, and ways of voting with each other.

The ensemble of one seed's models is also a row of Tables 4, 5 and 6 (``tables.table5_6``); the rest is not in the paper. It is
written to ``results/NAME-ensemble.md`` and ``.csv``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import paper
from training.ensembles import Scores, dev_uas
from training.run import Run
from training.treebank import Treebank

from tables.writer import Average, Table, average, comma_separated, models_section

Members = dict[int, list[Run]]  # by seed
Voting = Mapping[str, Sequence[float]]  # the dev UAS for each seed, by way of voting


@dataclass(frozen=True)
class Row:
    """A parser or an ensemble: its number of models, and its scores for each seed, or one score."""

    name: str
    models: int
    scores: Sequence[Scores]

    def average(self, score: str) -> Optional[Average]:
        """The average of a score over seeds; None if there is none."""
        known = [value for value in (getattr(scores, score) for scores in self.scores) if value is not None]
        return average(known) if known else None


SCORES = {"dev_uas": "dev UAS", "dev_las": "dev LAS", "test_las": "test LAS"}


def table(rows: Sequence[Row]) -> Table:
    """The scores of members and ensembles."""
    body = []
    for row in rows:
        averages = [row.average(score) for score in SCORES]
        body.append([row.name, "%d" % row.models, *("" if one is None else str(one) for one in averages)])
    return Table(["", "models", *SCORES.values()], body, right=1)


def voting(ways: Voting) -> Table:
    """The dev UAS of each way of voting."""
    return Table(["votes", "dev UAS"], [[name, str(average(uas))] for name, uas in ways.items()], right=1)


def markdown(bank: Treebank, members: Members, rows: Sequence[Row], ways: Voting, command: str) -> list[str]:
    """The lines of the page."""
    systems = [run.system for run in next(iter(members.values()))]
    published = paper.test_las(bank.lang, bank.release, "ensemble")
    lines = [
        "# %s (%s): ensembles of %s" % (bank.lang, bank.release, ", ".join(systems)),
        "",
        table(rows).markdown(),
        "",
        "In percent, with gold segmentation on dev and that of the shared task's baseline on test; mean and standard deviation (n - 1)",
        "over seed%s %s. Members vote in the order of their dev UAS."
        % ("s" if len(members) > 1 else "", " ".join(map(str, members))),
    ]
    if published:
        lines += [
            "The paper's ensemble of MST, MH4-hybrid and 1EC has test LAS %.2f. How it votes, and with how many models, is not said."
            % published[0]
        ]
    origins: dict[tuple[str, str], list[str]] = {}
    for run in (run for runs in members.values() for run in runs):
        commits = ", ".join(run.origin().get("commits") or ["unknown"])
        origins.setdefault((run.system, commits), []).append("seed %d (dev UAS %.2f)" % (run.seed, dev_uas(run)))
    models = [
        "%s: %s, trained at commit %s" % (system, ", ".join(seeds), commits) for (system, commits), seeds in origins.items()
    ]
    return lines + [
        "",
        "## Ways of voting",
        "",
        voting(ways).markdown(),
        "",
        "With the models of one seed, on dev, with any tree allowed. The first way is that of `mh4 ensemble`. Ties go to members with",
        "a higher dev UAS. The second tree of a member is the best one if each arc of its first costs 0.5. The max-marginal of an arc is",
        "the score of a member's best tree with the arc; each member's vote for a word is shared among the arcs that members chose.",
        "Marginals share it among all arcs; a member without them, such as 1ec, votes for the arcs of its tree.",
        "",
        *models_section(models, bank, command),
    ]


def as_csv(bank: Treebank, members: Members, rows: Sequence[Row], ways: Voting) -> str:
    """Both tables as csv, one line for each score."""
    header = ["lang", "data", "seeds", "ensemble", "models", "score", "mean", "std"]
    seeds, body = " ".join(map(str, members)), []
    for row in rows:
        for score in SCORES:
            mean = row.average(score)
            if mean is not None:
                body.append([bank.lang, bank.release, seeds, row.name, row.models, score, mean.mean, mean.std])
    for name, uas in ways.items():
        mean = average(uas)
        models = len(next(iter(members.values())))
        body.append([bank.lang, bank.release, seeds, name, models, "dev_uas", mean.mean, mean.std])
    return comma_separated(header, body)
