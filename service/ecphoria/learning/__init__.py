"""Learning: update memories after a recall, in the background."""
