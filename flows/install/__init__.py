"""Hooks into each agent's own config: one module an agent, listed in `registry`."""
