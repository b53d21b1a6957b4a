"""Two catalogs, what changed between them, and whom it hurts."""
