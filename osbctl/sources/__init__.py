"""Reading of sources: a file, folder, standard input or git revision becomes a `Document`."""
