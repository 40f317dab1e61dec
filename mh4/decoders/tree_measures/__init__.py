"""Properties of trees that say in which class they are, for mh4.trees."""
