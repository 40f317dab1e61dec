"""Large-margin training (Section 4.3): `violation` says what to learn from, in numpy; `loss` makes it an expression of the DyNet graph;
`trainer` is the training loop and its model folder.
"""
