"""For annotators: a page on which to correct trees, and the improbable arcs of a treebank."""
