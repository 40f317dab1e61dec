"""Greedy and beam search, instead of a chart."""

from mh4.decoders.beam.decoder import decode, decode_local, local_parts

__all__ = ["decode", "decode_local", "local_parts"]
