"""The rules, one small unit each, grouped by where they come from."""
