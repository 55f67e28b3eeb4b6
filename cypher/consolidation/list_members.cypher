// doc: List the turns of a session in order, with the columns of a summary.
// mode: read
// params: tenant STRING, session STRING
// each: id STRING, body_hash STRING, speaker STRING, text STRING, length INTEGER, vector VECTOR
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.session = $session AND e.ordinal >= 0
  AND e.text IS NOT NULL AND e.embedding IS NOT NULL
WITH e
ORDER BY e.ordinal, e.turn
RETURN collect([
  e.id, e.body_hash, e.speaker, e.text, e.length,
  vector(e.embedding, size(e.embedding), FLOAT32)
]) AS rows
