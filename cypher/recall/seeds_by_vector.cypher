// doc: Search the vector index inside the tenant, with the filters it has if any are set.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  // Ranges that leave nothing out would cost a third more.
  WHEN $session_from IS NULL THEN {
    // Neo4j cannot plan a SEARCH for a variable that another branch has too.
    MATCH (near:LiveEpisode)
    SEARCH near IN (
      VECTOR INDEX episode_embedding
      FOR $vector
      WHERE near.tenant = tenant
      LIMIT $fetch
    ) SCORE AS found
    RETURN near AS e, found
  }
  ELSE {
    MATCH (inside:LiveEpisode)
    SEARCH inside IN (
      VECTOR INDEX episode_embedding
      FOR $vector
      WHERE inside.tenant = tenant
        // use: ranged(inside)
      LIMIT $fetch
    ) SCORE AS found
    RETURN inside AS e, found
  }
}
// use: scored(e)
// use: best_episodes(e)
