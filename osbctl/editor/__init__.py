"""Language server for catalogs in an editor."""
