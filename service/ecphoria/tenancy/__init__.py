"""Who owns memories and who may ask: tenants, keys, and what a key allows."""
