"""Consolidation: a cycle of steps over a tenant's graph."""
