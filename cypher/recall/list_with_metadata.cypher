// doc: List those of these episodes whose metadata have entries.
// mode: read
// params: tenant STRING, ids LIST<STRING>, metadata LIST<STRING>
// returns: id STRING
CYPHER 25
UNWIND $ids AS wanted
MATCH (e:Episode {id: wanted})
WHERE e.tenant = $tenant
  AND all(entry IN $metadata
    WHERE e.metadata CONTAINS entry + ', ' OR e.metadata ENDS WITH entry + '}')
RETURN e.id AS id
ORDER BY id
