"""Read a source (file, folder, standard input, git revision) as a `Document`."""
