"""What each command does, callable without a terminal: one module a task.

Nothing here prints, exits or reads the environment; the command line, the pages and an editor's server call it.
"""
