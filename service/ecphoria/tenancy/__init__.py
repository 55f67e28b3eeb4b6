"""Tenants, API keys, and what a key allows."""
