"""Train parsers with the hinge loss (Section 4.3) or on likelihood (not in the paper).

`loss` turns margin violations, which systems compute in numpy, into an expression of the DyNet graph. `trainer` has the
training loop and manages the model folder, whose records `summary` reads.

Trainer.learn makes an update with the loss from loss.minibatch_loss. For each sentence, System.violation of a global
system decodes twice, with costs and for the target tree (greedy systems follow the oracle instead). TensorScores.loss
keeps the scores that only one of the two derivations uses. Biaffine.picked computes these again from the encoder's
vectors, and the loss is backpropagated from this expression.
"""
