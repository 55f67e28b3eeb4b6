"""Read public data sets from files; none is shipped but our own mini set."""
