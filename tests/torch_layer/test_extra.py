"""PyTorch is optional."""

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_nothing_else_imports_it():
    code = "import sys, mh4, mh4.decoders.batch, mh4.cli, mh4.parser.systems, mh4.training; print('torch' in sys.modules)"
    assert run(code) == "False\n"


def test_without_it():
    code = "import sys; sys.modules['torch'] = None\ntry: import mh4.torch\nexcept ImportError as error: print(error)"
    assert run(code) == "mh4.torch needs PyTorch, which is not installed: pip install 'torch>=2.3'\n"
