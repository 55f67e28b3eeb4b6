// doc: Fetch the vectors of live episodes and concepts; one without a vector is left out.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, vector VECTOR
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Episode {id: id})
  WHERE n.tenant = $tenant AND n:LiveEpisode
  RETURN n
  UNION ALL
  MATCH (n:Concept {id: id})
  WHERE n.tenant = $tenant AND n:LiveConcept
  RETURN n
}
WITH n
WHERE n.embedding IS NOT NULL
ORDER BY n.id
RETURN collect([n.id, vector(n.embedding, size(n.embedding), FLOAT32)]) AS rows
