"""Rules of language: text in, plain values out; every English word and pattern is in `english`."""
