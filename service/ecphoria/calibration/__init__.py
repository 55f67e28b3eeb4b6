"""Fit the gate to a tenant: questions, their evidence, the fit and its worth."""
