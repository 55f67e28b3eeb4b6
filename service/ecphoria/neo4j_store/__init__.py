"""The session with Neo4j, and what several features read there."""
