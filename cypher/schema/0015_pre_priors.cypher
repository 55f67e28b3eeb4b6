// doc: Take away which cycle gave a prior; nobody reads it.
// mode: schema
CYPHER 25
MATCH (n:Episode|Concept)
WHERE n.prior_cycle IS NOT NULL
CALL (n) {
  REMOVE n.prior_cycle
} IN TRANSACTIONS OF 10000 ROWS;
