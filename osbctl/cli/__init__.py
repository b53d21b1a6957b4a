"""The commands. Nothing here computes."""
