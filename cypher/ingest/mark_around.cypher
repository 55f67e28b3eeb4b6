// doc: Mark the live episodes whose nearest ones change if episodes go or sleep: of those near few
//   what is joined to them and near many, of those near many what is near them and so too.
// mode: write
// params: tenant STRING, ids LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
CALL (e) {
  // What is near few is among the nearest of nothing but what it is joined to.
  WHEN e.crowd <= 15 THEN {
    MATCH (e)-[r:SIMILAR]-(joined:LiveEpisode)
    WHERE r.w_sim > 0 AND joined.crowd > 15
    RETURN joined AS near
  }
  WHEN e.embedding IS NOT NULL THEN {
    WITH e, vector(e.embedding, size(e.embedding), FLOAT32) AS here
    MATCH (found:LiveEpisode)
    SEARCH found IN (
      VECTOR INDEX episode_embedding
      FOR here
      WHERE found.tenant = $tenant
      LIMIT 256
    ) SCORE AS score
    // What is near few has room for all its neighbours.
    WHERE score >= 0.79 AND found <> e AND (found.crowd IS NULL OR found.crowd > 15)
    RETURN found AS near
  }
}
SET near.touched = randomUUID()
