"""What users choose from by name: ways to decode, and classes of an ensemble's trees. The command line imports this for `--help`."""

DECODING_METHODS = ("exact", "greedy", "beam", "mbr")
BEAM = 8  # the default width of a beam
MAX_BEAM = 10_000  # any sentence fits into memory with this width
BEYOND = ("beam", "mst", "skip")  # how sentences beyond --longest are decoded
BEYOND_BEAM = 64  # the width of the beam for them
TREES = {"mst": "any", "mh4": "mh4", "1ec": "1ec"}  # the classes of an ensemble's trees, and their names in mh4.trees
