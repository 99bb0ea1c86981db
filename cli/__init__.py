"""cli: the command line over compat and planner."""
