"""The command line: one file a command. Options in, one call, report out, exit code; nothing here computes."""
