"""Training runs and their records; experiments/README.md describes the modules."""
