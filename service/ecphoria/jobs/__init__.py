"""Background work: jobs in the store, and the workers that take them."""
