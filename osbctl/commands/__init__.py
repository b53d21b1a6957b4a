"""The command line: a function a command. Options in, one call, report out, exit code; nothing here computes."""
