"""Where a catalog comes from: a file, standard input or a revision in git. Each ends in a `Document`."""
