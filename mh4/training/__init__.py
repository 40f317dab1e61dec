"""Large-margin training (Section 4.3).

`violation` computes margin violations, in numpy; `loss` turns them into an expression of the DyNet graph; `trainer` has the
training loop and manages its model folder. An update goes from Trainer.learn to loss.minibatch_loss; for each sentence
System.violation decodes twice, with costs and for the target tree; TensorScores.difference keeps the scores that only one of the
two uses, and Biaffine.picked computes these as the expression from which the loss is backpropagated.
"""
