// doc: Search the vector index of passages inside the tenant, with the filters it has if any are set.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  // Ranges that leave nothing out would cost a third more.
  WHEN $session_from IS NULL THEN {
    // Neo4j cannot plan a SEARCH for a variable that another branch has too.
    MATCH (near:LivePassage)
    SEARCH near IN (
      VECTOR INDEX passage_embedding
      FOR $vector
      WHERE near.tenant = tenant
      LIMIT $fetch
    ) SCORE AS found
    RETURN near AS p, found
  }
  ELSE {
    MATCH (inside:LivePassage)
    SEARCH inside IN (
      VECTOR INDEX passage_embedding
      FOR $vector
      WHERE inside.tenant = tenant
        // use: ranged(inside)
      LIMIT $fetch
    ) SCORE AS found
    RETURN inside AS p, found
  }
}
// use: scored(p)
// use: best_passages(p)
