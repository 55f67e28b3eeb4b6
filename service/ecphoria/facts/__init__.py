"""Facts: classes of predicates, timelines, and the decisions of people."""
