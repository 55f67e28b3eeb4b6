"""Strategies: each ranks candidates in its own way; the pipeline around them is shared."""
