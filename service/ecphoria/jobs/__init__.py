"""Background jobs: a queue in the store, and its workers."""
