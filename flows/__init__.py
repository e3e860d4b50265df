"""The top: Prefect, the command line, hooks, and what is printed."""
