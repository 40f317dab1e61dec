"""Large-margin training (Section 4.3).

`violation` computes margin violations, in numpy; `loss` turns them into an expression of the DyNet graph; `trainer` has the
training loop and manages its model folder.
"""
