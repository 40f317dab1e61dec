"""Training with the hinge (Section 4.3) or, which is not in the paper, on likelihood.

`loss` turns margin violations, which systems compute in numpy, into an expression of the DyNet graph; `trainer` has the training
loop and manages its model folder, whose records `summary` reads. An update goes from Trainer.learn to loss.minibatch_loss. For
each sentence, System.violation of a global system decodes twice, with costs and for the target tree (greedy systems follow the
oracle instead). TensorScores.loss keeps the scores that only one of the two derivations uses, and Biaffine.picked computes these
again from the encoder's vectors, as the expression from which the loss is backpropagated.
"""
