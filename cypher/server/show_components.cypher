// doc: Show the server's version and edition, with a call that old servers know.
// mode: read
// returns: version STRING, edition STRING
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
