"""The HTTP face: routes, problems, authentication."""
