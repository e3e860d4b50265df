"""Many solutions become fewer and better."""
