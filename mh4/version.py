"""The version of mh4, which models and corpora record."""

__version__ = "0.1.0"
