"""Makes .venv-spacy, the environment of spaCy: `make spacy-test` runs it."""

import sys

from second_environment import SecondEnvironment

REQUIREMENTS = ["spacy>=3.8,<4"]

if __name__ == "__main__":
    sys.exit(SecondEnvironment(".venv-spacy", REQUIREMENTS, of="spaCy", target="spacy-test").main("setup-spacy.log"))
