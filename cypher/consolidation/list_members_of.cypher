// doc: List episodes by time, with the columns of a summary.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, body_hash STRING, speaker STRING, text STRING, length INTEGER, vector VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.text IS NOT NULL AND e.embedding IS NOT NULL
WITH e
ORDER BY e.occurred_at, e.turn
RETURN collect([
  e.id, e.body_hash, e.speaker, e.text, e.length,
  vector(e.embedding, size(e.embedding), FLOAT32)
]) AS rows
