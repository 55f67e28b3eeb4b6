// doc: Let the edges of facts that were retracted before weigh nothing, too.
// mode: schema
CYPHER 25
MATCH (f:Fact)
WHERE f.standing = 'retracted'
CALL (f) {
  MATCH (f)-[:SUBJECT]->(:Concept)-[r:RELATED]->(:Concept)
  WHERE r.fact = f.id
  SET r.weight = 0.0
} IN TRANSACTIONS OF 1000 ROWS;
