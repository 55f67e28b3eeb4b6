"""Background jobs: a queue in the store, and the workers that take from it."""
