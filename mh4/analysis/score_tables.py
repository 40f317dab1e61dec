"""Format the output of `mh4 evaluate`: official metrics of systems, and LAS by relation, as tables or JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from mh4.analysis import error_tables, evaluation
from mh4.analysis.evaluation import Counts
from mh4.errors import cut
from mh4.util.text_tables import Form, Table, short_names

TOTAL = "total"
_LONGEST_NAME = 60  # of a relation, in a table


class Result(NamedTuple):
    """The counts of a system's file by metric, and its pairs of words."""

    path: str
    metrics: dict[str, Counts]
    pairs: error_tables.Pairs

    @property
    def relations(self) -> dict[str, Counts]:
        """Return the counts for LAS by relation, without subtypes, the most frequent in gold first.

        `aligned` is the number of aligned words that have the relation in gold.
        """
        gold, system, correct, aligned = (Counter[str]() for _ in range(4))
        for (in_gold, parsed, right), number in error_tables.without_subtypes(self.pairs).items():
            if in_gold is not None:
                gold[in_gold] += number
                aligned[in_gold] += number * (parsed is not None)
                correct[in_gold] += number * (right and in_gold == parsed)
            if parsed is not None:
                system[parsed] += number
        found = {name: Counts(gold[name], system[name], correct[name], aligned[name]) for name in gold | system}
        return dict(sorted(found.items(), key=lambda item: (-item[1].gold, item[0])))


def has_gold_tags(result: Result) -> bool:
    """Return whether a file has other trees than gold but the same tags, as if `mh4 parse` copied them from gold."""
    tags, trees = (one.gold == one.system == one.correct for one in (result.metrics["AllTags"], result.metrics["LAS"]))
    return tags and not trees


def score_files(gold_path: str, system_paths: Sequence[str]) -> list[Result]:
    """Score CoNLL-U files against gold. Raises InputError for files that the official scorer rejects."""
    results = [Result(path, {}, Counter()) for path in system_paths]
    for gold, systems in evaluation.chunks(gold_path, system_paths):
        for system, result in zip(systems, results, strict=True):
            counts, gold_words = evaluation.evaluate(gold, system)
            evaluation.add(result.metrics, counts)
            result.pairs.update(error_tables.count(gold, system, gold_words))
    return results


def metric_table(results: Sequence[Result], counts: bool = False, form: Form = "text") -> Table | str:
    """Format the metrics: of one system as the official scorer does; of several, F1 (with `counts`, counts)."""
    rows = [[result.metrics[metric] for result in results] for metric in evaluation.METRICS]
    if len(results) == 1 and form == "text":
        return evaluation.official_table(results[0].metrics, counts)
    if len(results) == 1 and not counts:
        scores = [["-" if value is None else "%.2f" % value for value in one.score()] for (one,) in rows]
        return Table.grouped("", [("%", ["precision", "recall", "F1", "aligned accuracy"])], evaluation.METRICS, scores)
    names = short_names([result.path for result in results])
    if counts:
        return _count_table(names, evaluation.METRICS, rows)
    return Table.grouped("", [("F1, %", names)], evaluation.METRICS, [_f1(row) for row in rows])


def relation_table(results: Sequence[Result], counts: bool = False) -> Table:
    """Format LAS by relation: counts, precision, recall and F1 for one system; for several, F1 (or, with `counts`, counts)."""
    by_relation = [result.relations for result in results]
    in_gold = {name: counts.gold for found in by_relation for name, counts in found.items()}
    relations = sorted(in_gold, key=lambda name: (-in_gold[name], name))
    rows = [[found.get(name, Counts(in_gold[name], 0, 0)) for found in by_relation] for name in relations]
    rows.append([result.metrics["LAS"] for result in results])
    titles = [*(cut(name, _LONGEST_NAME) for name in relations), TOTAL]
    if len(results) == 1:
        groups = [("arcs", ["gold", "predicted", "correct"]), ("LAS, %", ["precision", "recall", "F1"])]
        body = [_counts([one]) + ["%.2f" % value for value in one.score()[:3]] for (one,) in rows]
        return Table.grouped("", groups, titles, body)
    names = short_names([result.path for result in results])
    if counts:
        return _count_table(names, titles, rows)
    body = [["%d" % row[0].gold, *_f1(row)] for row in rows]
    return Table.grouped("", [("", ["gold"]), ("LAS F1, %", names)], titles, body)


def _count_table(names: list[str], titles: Sequence[str], rows: Sequence[Sequence[Counts]]) -> Table:
    groups = [("", ["gold"]), ("predicted", names), ("correct", names)]
    return Table.grouped("", groups, titles, [_counts(row) for row in rows])


def _f1(row: Sequence[Counts]) -> list[str]:
    return ["%.2f" % one.score().f1 for one in row]


def record(gold_path: str, results: Sequence[Result], by: str | None = None) -> dict[str, Any]:
    """Return the scores for JSON: counts and unrounded percentages.

    by: "deprel" adds LAS by relation; "errors" adds the errors.
    """
    systems = []
    for result in results:
        entry: dict[str, Any] = {"file": result.path, "metrics": evaluation.records(result.metrics)}
        if by == "deprel":
            entry["deprel"] = evaluation.records(result.relations)
        if by == "errors":
            entry["errors"] = error_tables.record(result.pairs)
        systems.append(entry)
    return {"gold": gold_path, "systems": systems}


def _counts(row: Sequence[Counts]) -> list[str]:
    """Return the counts in gold, then predicted by each system, then correct in each."""
    return ["%d" % count for count in [row[0].gold, *(one.system for one in row), *(one.correct for one in row)]]
