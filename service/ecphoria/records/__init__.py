"""Records: the definition of all that is stored, answered and read."""
