"""Check the parameters of a request and turn them into a task: the parameters of UDPipe's REST API, and some of mh4.

UDPipe's reference: https://lindat.mff.cuni.cz/services/udpipe/api-reference.php
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mh4.errors import InputError, shown, unknown
from mh4.parser.choices import SEGMENTED, SPLIT
from mh4.parser.parsing import MOST_TREES

PAGE, SVG, MATXIN, EPE, CONLLU, TEXT = "page", "svg", "matxin", "epe", "conllu", "text"
OF_TREES = PAGE, SVG, MATXIN  # outputs that cannot represent a sentence without a tree
_WANTED = {"": True, "none": False}  # values of a switch; "none" comes from UDPipe
_TOKENIZER_OPTIONS = ("normalized_spaces", "presegmented", "ranges")
# Formats of UDPipe and of mh4, each with the options that may follow "=". UDPipe itself ignores unknown options.
_INPUTS: dict[str, tuple[str, ...]] = {
    CONLLU: ("v2",),
    **dict.fromkeys((*SPLIT, *SEGMENTED), ()),
    "generic_tokenizer": _TOKENIZER_OPTIONS,
}
_OUTPUTS = {
    CONLLU: ("v2",), "horizontal": ("paragraphs",), "vertical": ("paragraphs",), "plaintext": ("normalized_spaces",),
    MATXIN: (), EPE: (), SVG: (), PAGE: (),
}  # fmt: skip
SWITCHES = ("tagger", "parser", "confidence", "heads", "keep_deps")  # parameters without a value
PARAMETERS = ("data", "model", "tokenizer", "input", *SWITCHES, "best", "output", "second")

# The names of the models, the default first, each with those of "tokenizer", "tagger" and "parser" that the model has.
Abilities = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Task:
    """What a request asks for.

    data: text or CoNLL-U. models: the names of one model or, for pages, two. tokenizer: the options of the tokenizer,
    or None if the data is in format `input` and needs no tokenizer. tagger, parser, confidence: what to predict. heads:
    keep the heads and relations in the data. keep_deps: keep the enhanced graph in the data. best: how many of the best
    trees of each sentence to find. if_possible: predict what the models can; otherwise, confidence with a model without
    probabilities is an error. output: the format of the result.
    """

    data: str
    models: tuple[str, ...]
    tokenizer: str | None = None
    input: str = CONLLU
    tagger: bool = False
    parser: bool = False
    confidence: bool = False
    heads: bool = False
    keep_deps: bool = False
    best: int = 1
    if_possible: bool = False
    output: str = CONLLU


def task(parameters: Mapping[str, str], abilities: Abilities, if_possible: bool = False) -> Task:
    """Return the task that these parameters of a request describe. Raises InputError if they are invalid.

    if_possible: see Task. A second model is then ignored unless the output is a page.
    """
    for name in parameters:
        if name not in PARAMETERS:
            raise InputError(unknown("parameter", name, PARAMETERS))
    if "data" not in parameters:
        raise InputError("no parameter data, expected the text or the CoNLL-U to process")
    data = parameters["data"]
    if "\0" in data:
        raise InputError("data: a character NUL, expected text")
    models = [_model(parameters.get("model", ""), abilities)]
    if parameters.get("second"):
        models.append(_model(parameters["second"], abilities))
    tokenizer, format_of_input = parameters.get("tokenizer"), _format(parameters, "input", _INPUTS)
    if tokenizer is None and format_of_input in SEGMENTED:
        tokenizer = "" if format_of_input == TEXT else format_of_input  # "presegmented" is also a tokenizer option
    switches = {name: _wanted(parameters, name) for name in SWITCHES}
    output = _format(parameters, "output", _OUTPUTS)
    if if_possible:
        switches["tagger"] = switches["tagger"] and "tagger" in abilities[models[0]]
        if output != PAGE:
            del models[1:]
    elif len(models) > 1 and output != PAGE:
        raise InputError("second needs output %s" % PAGE)
    best = parameters.get("best", "1")
    if not (re.fullmatch("[1-9][0-9]{0,3}", best) and int(best) <= MOST_TREES):
        raise InputError("best is %s, expected a number from 1 to %d" % (shown(best), MOST_TREES))
    found = Task(
        data, tuple(models), tokenizer, format_of_input, **switches, best=int(best), if_possible=if_possible, output=output
    )
    _check(found, abilities[models[0]])
    return found


def _check(wanted: Task, abilities: Sequence[str]) -> None:
    """Raise InputError if the model lacks an ability that a task needs, or if one of its options needs another one."""
    for ability, needed in (("tokenizer", wanted.tokenizer is not None), ("tagger", wanted.tagger)):
        if needed and ability not in abilities:
            raise InputError("the model %s has no %s" % (wanted.models[0], ability))
    if wanted.heads and not (wanted.parser and wanted.tokenizer is None and wanted.input.startswith(CONLLU)):
        raise InputError("heads needs parser and input %s" % CONLLU)
    if wanted.best > 1 and not wanted.output.startswith(CONLLU):
        raise InputError("best needs output %s" % CONLLU)
    need_parser = {
        "confidence": wanted.confidence,
        "keep_deps": wanted.keep_deps,
        "best": wanted.best > 1,
        "output %s" % wanted.output: wanted.output in OF_TREES,
    }
    for option, given in need_parser.items():
        if given and not wanted.parser:
            raise InputError("%s needs parser" % option)


def _wanted(parameters: Mapping[str, str], name: str) -> bool:
    value = parameters.get(name, "none")
    if value not in _WANTED:
        raise InputError("%s is %s, expected no value, or none" % (name, shown(value)))
    return _WANTED[value]


def _format(parameters: Mapping[str, str], parameter: str, formats: Mapping[str, Sequence[str]]) -> str:
    """Return the format that a parameter names, with its options."""
    given = parameters.get(parameter, CONLLU)
    name, _, options = given.partition("=")
    if name not in formats:
        raise InputError("%s is %s, expected one of: %s" % (parameter, shown(given), ", ".join(formats)))
    for option in filter(None, options.split(";")):
        if option not in formats[name]:
            known = ", ".join(formats[name]) or "none"
            raise InputError(
                "%s is %s: no option %s of %s, there are: %s" % (parameter, shown(given), shown(option), name, known)
            )
    return given if options.strip(";") else name


def _model(name: str, abilities: Abilities) -> str:
    """Return the model called `name` or, as in UDPipe, the first whose name begins with `name` and a hyphen.

    Without a name, return the first model.
    """
    exact = [known for known in abilities if name in ("", known)]
    found = exact + [known for known in abilities if known.startswith(name + "-")]
    if found:
        return found[0]
    raise InputError(unknown("model", name, abilities))
