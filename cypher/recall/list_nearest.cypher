// doc: Search the vector index around each of some episodes, and keep those near enough by the
//   exact cosine.
// mode: read
// params: tenant STRING, episodes LIST<STRING>, fetch INTEGER, limit INTEGER,
//   above FLOAT
// each: of STRING, of_turn INTEGER, id STRING, turn INTEGER, cosine FLOAT
CYPHER 25
UNWIND range(0, size($episodes) - 1) AS place
MATCH (a:Episode {id: $episodes[place]})
WHERE a.tenant = $tenant AND a:LiveEpisode
CALL (a) {
  WITH a, vector(a.embedding, size(a.embedding), FLOAT32) AS here
  MATCH (b:LiveEpisode)
  SEARCH b IN (
    VECTOR INDEX episode_embedding
    FOR here
    WHERE b.tenant = $tenant
    LIMIT $fetch
  )
  WITH b, 1 - vector_distance(
      vector(b.embedding, size(b.embedding), FLOAT32), here, COSINE
    ) AS cosine
  // Not null: an episode may have lost its vector since the index was read.
  WHERE b <> a AND cosine >= $above
  RETURN b.id AS id, b.turn AS turn, cosine
  ORDER BY cosine DESC, turn
  LIMIT $limit
}
WITH place, a.id AS of, a.turn AS of_turn, id, turn, cosine
ORDER BY place, cosine DESC, turn
RETURN collect([of, of_turn, id, turn, cosine]) AS rows
