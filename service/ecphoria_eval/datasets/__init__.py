"""Read public data sets from files; only our own mini set is shipped."""
