"""The Neo4j adapter: stores that fit the ports, and the only importer of the driver."""
