"""Ingest: store each episode once and in order; the next recall finds it."""
