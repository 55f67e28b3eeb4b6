"""The sample conversation and the questions the demo asks of it."""
