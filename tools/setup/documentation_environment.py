"""Makes .venv-docs, the environment of Sphinx, which imports mh4, with its compiled decoders and DyNet: `make docs` runs it."""

import sys

from second_environment import SecondEnvironment

REQUIREMENTS = ["sphinx>=8,<10", "myst-parser>=4,<6", "furo>=2024.8", "sphinx-click>=6,<7", "nbformat>=5.1,<6"]

if __name__ == "__main__":
    sys.exit(SecondEnvironment(".venv-docs", REQUIREMENTS, of="Sphinx", target="docs").main("setup-docs.log"))
