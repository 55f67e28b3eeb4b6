"""Strategies: how seeds become a ranking. The pipeline around them is shared."""
