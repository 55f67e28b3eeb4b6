// doc: Tell the server's version and edition; asks in words that old servers know.
// mode: read
// returns: version STRING, edition STRING
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
