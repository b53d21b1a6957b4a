"""What an editor asks of a catalog that is being written: a language server, and what it answers with."""
