"""Check of a running broker against the contract of the catalog endpoint."""
