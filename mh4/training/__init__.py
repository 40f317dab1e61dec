"""Large-margin training (Section 4.3).

`violation` computes margin violations, in numpy; `loss` makes them an expression of the DyNet graph; `trainer` has the training loop
and manages its model folder. An update goes from Trainer.learn to loss.minibatch_loss. For each sentence, System.violation decodes
twice, with costs and for the target tree. TensorScores.differences keeps the scores that only one of the two derivations uses, and
Biaffine.picked computes these again from the encoder's vectors, as the expression from which the loss is backpropagated.
"""
