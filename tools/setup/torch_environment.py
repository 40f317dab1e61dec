"""Makes .venv-torch, the environment of PyTorch: `make torch-test` runs it."""

import sys

from second_environment import SecondEnvironment

REQUIREMENTS = ["torch==2.13.0"]

if __name__ == "__main__":
    sys.exit(SecondEnvironment(".venv-torch", REQUIREMENTS, of="PyTorch", target="torch-test").main("setup-torch.log"))
