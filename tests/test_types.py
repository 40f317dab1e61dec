"""Type hints: those of public functions can be resolved, and the stubs of compiled decoders agree with their sources."""

import ast
import importlib
import inspect
import typing
from pathlib import Path

import pytest

import mh4
import mh4.decoders
from mh4 import (
    arcs,
    batching,
    calibration,
    comparison,
    conll17,
    conllu,
    conversions,
    coverage,
    ensemble,
    evaluation,
    fetching,
    files,
    oracle,
    parallel,
    parsing,
    plots,
    score_tables,
    significance,
    tables,
    toy,
    transitions,
    treebanks,
    trees,
)
from mh4.viewing import analyses, layout, page, svg, terminal

STUBS = sorted((Path(mh4.__file__).parent / "decoders").glob("*.pyi"))


def public_functions():
    compared = arcs, comparison, evaluation, plots, score_tables, significance, tables
    parsers = batching, calibration, ensemble, parallel, parsing
    viewing = analyses, layout, page, svg, terminal
    for module in (
        *compared,
        *parsers,
        *viewing,
        conll17,
        conllu,
        conversions,
        coverage,
        fetching,
        files,
        oracle,
        toy,
        transitions,
        treebanks,
        trees,
    ):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                yield pytest.param(function, id=f"{module.__name__}.{name}")
    yield pytest.param(mh4.Parser.load, id="Parser.load")
    yield pytest.param(mh4.Parser.parse, id="Parser.parse")
    yield pytest.param(mh4.Ensemble.load, id="Ensemble.load")
    yield pytest.param(mh4.Ensemble.parse, id="Ensemble.parse")


@pytest.mark.parametrize("function", list(public_functions()))
def test_hints_of_public_functions(function):
    hints = typing.get_type_hints(function)
    assert set(hints) == {"return", *inspect.signature(function).parameters} - {"self", "cls"}


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.stem)
def test_stubs_say_what_the_compiled_functions_say(stub):
    module = importlib.import_module("mh4.decoders." + stub.stem)
    declared = {node.name: node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef)}
    assert declared
    for name, node in declared.items():
        function = getattr(module, name)
        compiled = inspect.signature(function)
        ours = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        assert [argument.arg for argument in ours] == list(compiled.parameters)
        if name == "decode" and stub.stem != "plain_mh4":  # whose arguments are C arrays
            hints = typing.get_type_hints(function)
            scope = {"np": importlib.import_module("numpy"), "Derivation": mh4.decoders.Derivation, **vars(typing)}
            assert hints == {
                **{a.arg: eval(ast.unparse(a.annotation), scope) for a in ours},
                "return": eval(ast.unparse(node.returns), scope),
            }


def test_every_decoder_has_a_stub():
    inner = {
        "replay",
        "marginals",
        *(k + part for k in ("mh4", "mh5") for part in ("_chart", "_full", "_tree")),
    }  # for other decoders only
    assert {stub.stem for stub in STUBS} == {path.stem for path in STUBS[0].parent.glob("*.pyx")} - inner
