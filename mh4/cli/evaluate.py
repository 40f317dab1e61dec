"""The command `mh4 evaluate`."""

import click

from mh4.cli.group import say, say_json
from mh4.cli.options import check_format, format_option, json_option
from mh4.cli.paths import PATH, Input
from mh4.errors import InputError
from mh4.util.text_tables import Form, short_names, written


@click.command()
@click.argument("gold_file", type=PATH, metavar="GOLD.conllu")
@click.argument("system_files", cls=Input, type=PATH, metavar="SYSTEM.conllu...", nargs=-1, required=True)
@click.option("--by", type=click.Choice(["deprel", "errors"]), help="Also show LAS by relation, or errors.")
@click.option("--counts", is_flag=True, help="Show counts instead of percentages.")
@format_option
@json_option
def evaluate(gold_file: str, system_files: tuple[str, ...], by: str | None, counts: bool, form: Form, as_json: bool) -> None:
    """Score parsed files against gold with the official scorer of the CoNLL 2018 shared task.

    A file may be a folder, whose .conllu files count as one file; files in parsed folders are called as `mh4 parse` calls them. If no
    parsed file is named, it is read from standard input, as in `mh4 parse ... | mh4 evaluate GOLD.conllu`.

    For one system, this prints the scorer's own table; for several, the F1 of every metric, one column per system. With --by
    deprel, also LAS by relation (without subtypes): precision is correct / predicted, recall correct / gold, where an arc is
    correct if both its head and its relation are. The total is the official LAS.

    With --by errors, for each system: UAS and LAS without punctuation and with the subtypes of relations; for each relation of gold,
    how many of its words have a wrong relation, a wrong head or both; and the relations that are most often confused.

    With --json, {"gold": FILE, "systems": [{"file": ..., "metrics": {"UAS": ...}, "deprel": {"nsubj": ...}}, ...]}, "deprel" only
    with --by deprel, "errors" only with --by errors. For each metric or relation, gold, system, correct and aligned are counts, and
    precision, recall, f1 and aligned_accuracy are percentages.
    """
    check_format(form, as_json)
    from mh4.analysis import error_tables, score_tables
    from mh4.util import reading

    if counts and as_json:
        raise InputError("--json has counts and percentages, so that --counts has no effect: omit it")
    results = score_tables.score_files(gold_file, system_files)
    copied = [result.path for result in results if score_tables.has_gold_tags(result)]
    if copied:
        text = (
            "mh4: %s: all tags are the gold tags; if they were copied, the scores of tags, and MLAS, say nothing about a parser"
        )
        say(text % ", ".join(map(reading.name_of, copied)), err=True)
    if as_json:
        return say_json(score_tables.record(gold_file, results, by))
    parts = [score_tables.metric_table(results, counts, form)]
    if by == "deprel":
        parts.append(score_tables.relation_table(results, counts))
    if by == "errors":
        names = short_names(system_files) if len(results) > 1 else [""]
        for name, result in zip(names, results, strict=True):
            parts += error_tables.tables(result.pairs, name)
    say(*written(parts, form).split("\n"))
