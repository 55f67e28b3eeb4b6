"""Ingest: store episodes once, in order, and readable by the next recall."""
