// doc: Fetch the constant columns of live episodes, and of dormant ones if wanted.
// mode: read
// params: tenant STRING, ids LIST<STRING>, dormant BOOLEAN, longest INTEGER
// each: id STRING, speaker STRING, role STRING, occurred_ms INTEGER, local_ms INTEGER,
//   terms STRING, length FLOAT, is_question BOOLEAN,
//   time_expression BOOLEAN, first_person BOOLEAN, second_person BOOLEAN, title STRING,
//   importance FLOAT, brief STRING, vector VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
  AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
WITH e
ORDER BY e.id
WITH [
  e.id, e.speaker, e.role, e.occurred_at.epochMillis,
  e.occurred_at.epochMillis + 60000 * coalesce(e.utc_offset, 0),
  e.terms, toFloat(e.length),
  e.is_question, e.time_expression, e.first_person, e.second_person, e.title, e.importance,
  CASE WHEN size(e.text) <= $longest THEN e.text ELSE '' END,
  vector(e.embedding, size(e.embedding), FLOAT32)
] AS row
// The vector is read last: without it, the episode was archived a moment ago.
WHERE row[14] IS NOT NULL
RETURN collect(row) AS rows
