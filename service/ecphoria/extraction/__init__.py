"""A language model reads names and facts in stored episodes."""
