"""Measure recall on public data through the client, as a user would see it."""
