"""Makes .venv-torch, the environment of PyTorch and JAX: `make torch-test` runs it."""

import sys

from second_environment import SecondEnvironment

REQUIREMENTS = ["torch==2.13.0", "transformers==5.23.0", "jax==0.10.2"]

if __name__ == "__main__":
    sys.exit(SecondEnvironment(".venv-torch", REQUIREMENTS, of="PyTorch", target="torch-test").main("setup-torch.log"))
