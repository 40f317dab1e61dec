"""The stubs that setup.py writes agree with the compiled modules."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import mh4

STUBS = sorted(Path(mh4.__file__).parent.glob("*/*.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: "%s.%s" % (stub.parent.name, stub.stem))
def test_stubs_have_the_parameters_of_the_compiled_functions(stub):
    module = importlib.import_module("mh4.%s.%s" % (stub.parent.name, stub.stem))
    declared = {node.name: node.args for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef)}
    for name, of_stub in declared.items():
        parameters = inspect.signature(getattr(module, name)).parameters.values()
        by_name = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
        assert by_name == [argument.arg for argument in of_stub.kwonlyargs], name
        arguments = [*of_stub.posonlyargs, *of_stub.args, *of_stub.kwonlyargs]
        assert [parameter.name for parameter in parameters] == [argument.arg for argument in arguments], name


def test_there_are_stubs():
    assert {stub.stem for stub in STUBS} >= {"mh3", "mh4", "mh5", "mhk", "mst", "oneec", "beam"}
