"""Learning: what a recall changes in the memories it woke, behind its answer."""
