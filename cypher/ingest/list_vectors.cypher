// doc: Fetch the stored vectors of episodes.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, embedding VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.embedding IS NOT NULL
WITH e
ORDER BY e.id
RETURN collect([e.id, vector(e.embedding, size(e.embedding), FLOAT32)]) AS rows
