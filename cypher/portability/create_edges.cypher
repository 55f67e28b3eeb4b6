// doc: Create edges between imported nodes as they were.
// mode: write
// params: rows LIST<MAP>
// returns: created INTEGER
// plan: Eager all rows are made from one list, which the first ones do not change
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (a)
  WHERE elementId(a) = row.tail
  RETURN a
}
CALL (row) {
  MATCH (b)
  WHERE elementId(b) = row.head
  RETURN b
}
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(*) AS created
