"""The archive's files."""
