"""What an exact parser gives to annotators: a page to correct trees on, and the improbable arcs of a treebank."""
