"""Mechanisms of papers: each fills a walk in its own way and adds parts to the score."""
