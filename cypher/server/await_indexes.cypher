// doc: Wait until every index is online.
// mode: read
// params: seconds INTEGER
CYPHER 25
CALL db.awaitIndexes($seconds)
