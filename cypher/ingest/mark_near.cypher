// doc: Mark the live episodes near those that go or sleep, for their neighbours change.
// mode: write
// params: tenant STRING, ids LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.embedding IS NOT NULL
CALL (e) {
  WITH e, vector(e.embedding, size(e.embedding), FLOAT32) AS here
  MATCH (near:LiveEpisode)
  SEARCH near IN (
    VECTOR INDEX episode_embedding
    FOR here
    WHERE near.tenant = $tenant
    LIMIT 256
  ) SCORE AS score
  WHERE score >= 0.79 AND near <> e
  RETURN near
}
SET near.touched = randomUUID()
