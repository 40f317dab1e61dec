"""Training runs and their records; experiments/README.md says what is in which module."""
