"""The request that a developer sends: its parameters, examples of them, and the commands that carry it."""
