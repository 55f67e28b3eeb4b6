// doc: Compute the exact cosines of live episodes to given ones, and keep those near enough.
// mode: read
// params: tenant STRING, episodes LIST<STRING>, near LIST<LIST<STRING>>, above FLOAT
// each: of STRING, of_turn INTEGER, id STRING, turn INTEGER, cosine FLOAT
CYPHER 25
UNWIND range(0, size($episodes) - 1) AS place
MATCH (a:Episode {id: $episodes[place]})
WHERE a.tenant = $tenant AND a:LiveEpisode
WITH place, a, vector(a.embedding, size(a.embedding), FLOAT32) AS here
UNWIND $near[place] AS id
MATCH (b:Episode {id: id})
WHERE b.tenant = $tenant AND b:LiveEpisode
WITH place, a, b, 1 - vector_distance(
    vector(b.embedding, size(b.embedding), FLOAT32), here, COSINE
  ) AS cosine
// Not null: an episode may have lost its vector meanwhile.
WHERE cosine >= $above
WITH place, a, b, cosine
ORDER BY place, cosine DESC, b.turn
RETURN collect([a.id, a.turn, b.id, b.turn, cosine]) AS rows
