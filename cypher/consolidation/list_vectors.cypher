// doc: Fetch the vectors of live episodes; one without a vector is left out.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, vector EMBEDDING
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e:LiveEpisode AND e.embedding IS NOT NULL
WITH e
ORDER BY e.id
RETURN collect([e.id, e.embedding]) AS rows
