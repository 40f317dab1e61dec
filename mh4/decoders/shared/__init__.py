"""What the decoders share: checked arguments, memory, signals, vectors, weights, and replaying transitions."""
