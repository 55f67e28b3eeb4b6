"""Adapters for agent frameworks, one module each; each needs the extra of its name."""
