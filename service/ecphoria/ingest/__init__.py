"""Ingest: what happened becomes a graph, once, in order, and readable by the next recall."""
