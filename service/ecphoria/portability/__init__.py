"""Copies of tenants and of whole stores, as files."""
