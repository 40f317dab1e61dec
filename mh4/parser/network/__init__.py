"""The neural network in DyNet (Section 4.1 and the supplement): from characters to score tensors, tags and labels.

Bottom up: `graph` sets up DyNet, `layers` and `lstm` are the building blocks, `encoder` turns words into vectors, and `scorer`
turns vectors into scores.
"""
