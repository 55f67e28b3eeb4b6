// doc: List those of these episodes whose metadata are among some.
// mode: read
// params: tenant STRING, ids LIST<STRING>, metadata LIST<STRING>
// returns: id STRING
CYPHER 25
UNWIND $ids AS wanted
MATCH (e:Episode {id: wanted})
WHERE e.tenant = $tenant AND e.metadata IN $metadata
RETURN e.id AS id
ORDER BY id
