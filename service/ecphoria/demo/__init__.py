"""The sample conversation of the demo, and its questions."""
