"""What facts say of when: the classes of predicates, timelines of keys, and people's decisions."""
