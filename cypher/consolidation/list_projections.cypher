// doc: Name the projections of a prefix that are older than a number of seconds.
// mode: read
// params: prefix STRING, seconds INTEGER
// returns: graph STRING
CYPHER 25
CALL gds.graph.list() YIELD graphName, creationTime
WHERE graphName STARTS WITH $prefix AND creationTime < datetime() - duration({seconds: $seconds})
RETURN graphName AS graph
ORDER BY graph
