"""JSON Schema: validation and comparison of catalog, user and parameter schemas."""
