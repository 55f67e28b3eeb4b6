"""Recall: find seeds for a cue, spread activation over the graph, rank the memories."""
