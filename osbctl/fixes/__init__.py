"""Fixes of findings as edits of the source text, which leave every other byte as it is."""
