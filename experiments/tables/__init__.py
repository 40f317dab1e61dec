"""Tables that several studies share, most of them made from records; experiments/README.md describes the modules."""
