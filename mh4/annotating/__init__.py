"""Tools for annotators: a page to correct trees, and a search for improbable arcs in a treebank."""
