// doc: Mark the live episodes that may be near many, near those that go or sleep and are so too.
// mode: write
// params: tenant STRING, ids LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.embedding IS NOT NULL AND (e.crowd IS NULL OR e.crowd > 15)
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
WITH near
// Where few are near, nobody waits for the place.
WHERE near.crowd IS NULL OR near.crowd > 15
SET near.touched = randomUUID()
