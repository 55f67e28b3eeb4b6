// doc: Read the number of near episodes, and the bound of the nearest ones.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, size INTEGER, cosine FLOAT, turn INTEGER
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.crowd IS NOT NULL
WITH e
ORDER BY e.id
RETURN collect([e.id, e.crowd, e.crowd_cosine, e.crowd_turn]) AS rows
