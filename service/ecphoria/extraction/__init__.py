"""Turn what was written into names, mentions, dates and facts that the graph can hold."""
