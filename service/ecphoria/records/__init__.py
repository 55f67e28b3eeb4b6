"""Records: the definition of what is stored, answered and read."""
