"""The work of each command, callable without a terminal: nothing here prints, exits or reads the environment."""
