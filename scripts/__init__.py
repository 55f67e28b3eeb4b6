"""Scripts of maintainers: generators, measurements."""
