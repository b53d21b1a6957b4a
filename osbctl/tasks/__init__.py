"""The work of each command, callable without a terminal: one module per task.

Nothing here prints, exits or reads the environment; the command line, the pages and an editor's server call it.
"""
