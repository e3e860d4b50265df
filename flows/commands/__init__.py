"""One module a subcommand: its arguments, and a function that runs it and returns the exit code."""
