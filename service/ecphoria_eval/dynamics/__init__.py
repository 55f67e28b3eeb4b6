"""Measure how memory changes over time and use: `ecphoria eval dynamics`."""
