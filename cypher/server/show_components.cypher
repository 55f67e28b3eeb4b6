// doc: Show the server's version, with a call that old servers know.
// mode: read
// returns: version STRING
CALL dbms.components() YIELD name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version
