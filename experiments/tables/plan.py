"""What the runs of ``make paper`` take, as ``make plan`` prints it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from training.costs import Size, Speed
from training.run import duration

from tables.writer import Table

GOAL_HOURS, GOAL_CORES = 12, 16  # for the paper's grid


@dataclass(frozen=True)
class Row:
    """A treebank: its size, its trainings and their processor time in seconds, those not yet recorded, and the memory of one in MB."""

    lang: str
    size: Size
    trainings: int
    seconds: float
    left: int
    seconds_left: float
    memory: int


@dataclass(frozen=True)
class Total:
    """Processor time and, on that number of cores, wall time in seconds; the longest training; disk in MB."""

    seconds: float
    wall: float
    cores: int
    longest: float
    disk: int


def table(rows: Sequence[Row]) -> Table:
    """A row for each treebank."""
    header = ["treebank", "train words", "dev words", "runs", "core-hours", "left", "core-hours", "MB"]
    body = []
    for row in rows:
        about = "" if row.size.known else "~"
        sizes = [about + "%d" % row.size.words, about + "%d" % row.size.dev_words]
        times = ["%d" % row.trainings, "%.1f" % (row.seconds / 3600), "%d" % row.left, "%.1f" % (row.seconds_left / 3600)]
        body.append([row.lang, *sizes, *times, "%d" % row.memory])
    return Table(header, body, right=1)


def notes(rows: Sequence[Row], total: Total, speeds: Mapping[str, Speed], processor: str, cores: int) -> Iterator[str]:
    """What the table adds up to, and what it rests on."""
    left, seconds_left = sum(row.left for row in rows), sum(row.seconds_left for row in rows)
    yield (
        "%d trainings: %.1f core-hours, on %d cores %.1f hours; the longest takes %s. Disk: %.1f GB, memory (MB) for each at a time."
        % (
            sum(row.trainings for row in rows),
            total.seconds / 3600,
            total.cores,
            total.wall / 3600,
            duration(total.longest),
            total.disk / 1000,
        )
    )
    yield "Not yet recorded: %d trainings, %.1f core-hours." % (left, seconds_left / 3600)
    listed = ", ".join("%s %d" % (name, speed.training) for name, speed in speeds.items())
    yield "Measured here (%s, %d cores), words per second of one core in training: %s." % (processor, cores, listed)
    yield "Trainings are taken to last as many evaluations as those recorded did (the median); they may take half or twice as long."
    guessed = [row.lang for row in rows if not row.size.known]
    if guessed:
        yield "Sizes that are not known (~), since the files are not here, are taken to be typical: %s." % ", ".join(guessed)


def goal(trainings: int, seconds: float, wall: float, cores: int) -> str:
    """The paper's grid compared with the goal for it."""
    said = "The paper's grid, %d trainings: %.1f core-hours, on %d cores %.1f hours" % (
        trainings,
        seconds / 3600,
        cores,
        wall / 3600,
    )
    if cores != GOAL_CORES:
        return said + "."
    met = "within" if wall <= GOAL_HOURS * 3600 else "beyond"
    return said + ", %s the goal of %d hours." % (met, GOAL_HOURS)
