"""Fixes of findings as edits of the text they were found in: every byte that no fix is about stays."""
