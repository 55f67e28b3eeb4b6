"""The mathematics of memory: pure functions from arrays to arrays.

Nothing here knows ids, text, time of day, files or the network. Arrays are float64 or int64 and
local to one subgraph; wrong shapes and ranges raise `ValueError` before any work; inputs are
never changed; the same arrays give the same answer, bit for bit.
"""
