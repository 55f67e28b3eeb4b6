"""Tenants, API keys, and the scopes of keys."""
