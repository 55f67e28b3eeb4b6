"""Recall: a cue becomes seeds, seeds wake a bounded subgraph, and what lights up is ranked."""
