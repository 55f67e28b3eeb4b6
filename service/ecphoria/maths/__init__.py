"""Pure functions over arrays: float64 in, float64 out, deterministic ties."""
