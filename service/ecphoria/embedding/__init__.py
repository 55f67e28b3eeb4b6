"""Change the embedding model of a store while it is in use."""
