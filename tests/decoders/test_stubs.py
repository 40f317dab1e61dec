"""Type hints of compiled decoders: the stubs agree with the sources. (Those in Python are mypy's.)"""

import ast
import collections.abc
import importlib
import inspect
import typing
from pathlib import Path

import pytest

import mh4
import mh4.decoders.batch

DECODERS = Path(mh4.__file__).parent / "decoders"
STUBS = sorted(DECODERS.glob("*/*.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: "%s.%s" % (stub.parent.name, stub.stem))
def test_stubs_say_what_the_compiled_functions_say(stub):
    module = importlib.import_module("mh4.decoders.%s.%s" % (stub.parent.name, stub.stem))
    declared = {node.name: node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef)}
    assert declared
    for name, node in declared.items():
        function = getattr(module, name)
        compiled = inspect.signature(function)
        ours = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        assert [argument.arg for argument in ours] == list(compiled.parameters)
        if name == "decode" and stub.stem != "deduction":  # whose arguments are C arrays
            hints = typing.get_type_hints(function)
            results = {"Derivation": mh4.decoders.Derivation, "Derivations": mh4.decoders.batch.Derivations}
            scope = {"np": importlib.import_module("numpy"), **results, **vars(typing), **vars(collections.abc)}
            assert hints == {
                **{a.arg: eval(ast.unparse(a.annotation), scope) for a in ours},
                "return": eval(ast.unparse(node.returns), scope),
            }


def test_every_decoder_has_a_stub():
    inner = {
        "shared/replay",
        "shared/marginals",
        "shared/search",
        "batch/threads",
        "oneec/parts",
        "oneec/interfaces",
        "mh4/full_chart",
        "mh5/full_chart",
    }
    found, modules = (
        {str(path.relative_to(DECODERS).with_suffix("")) for path in DECODERS.glob("*/*" + end)} for end in (".pyi", ".pyx")
    )
    assert found == modules - inner  # which are for other decoders only
