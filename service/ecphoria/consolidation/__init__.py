"""Consolidation: a cycle over a tenant's graph, one step a module."""
