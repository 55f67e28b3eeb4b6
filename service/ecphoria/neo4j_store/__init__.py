"""The session with Neo4j, and reads shared by several features."""
