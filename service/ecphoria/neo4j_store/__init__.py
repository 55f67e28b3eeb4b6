"""The session with Neo4j, and stores shared by several features."""
