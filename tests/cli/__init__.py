"""The command line, from outside: exit status, streams, files."""
