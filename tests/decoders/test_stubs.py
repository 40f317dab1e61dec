"""Type hints of compiled modules: the stubs agree with the sources. (Those in Python are mypy's.)"""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import mh4

STUBS = sorted((Path(mh4.__file__).parent / "decoders").glob("*/*.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: "%s.%s" % (stub.parent.name, stub.stem))
def test_stubs_have_the_parameters_of_the_compiled_functions(stub):
    module = importlib.import_module("mh4.decoders.%s.%s" % (stub.parent.name, stub.stem))
    declared = {node.name: node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef)}
    assert declared
    for name, node in declared.items():
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        assert [argument.arg for argument in arguments] == list(inspect.signature(getattr(module, name)).parameters)
