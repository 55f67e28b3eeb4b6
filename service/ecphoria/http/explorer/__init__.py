"""The explorer: a page that shows how a memory wakes, and how a browser signs in to it."""
