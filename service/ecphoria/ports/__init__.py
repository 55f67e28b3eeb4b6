"""Protocols with more than one implementation, and the rows they give."""
