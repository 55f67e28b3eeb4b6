// doc: List the priors of episodes; one without is left out.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, prior FLOAT
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.prior IS NOT NULL
WITH e
ORDER BY e.id
RETURN collect([e.id, e.prior]) AS rows
