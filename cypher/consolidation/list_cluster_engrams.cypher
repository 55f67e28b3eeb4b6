// doc: List the engrams of a tenant's clusters.
// mode: read
// params: tenant STRING
// returns: id STRING
CYPHER 25
MATCH (g:Engram)
WHERE g.tenant = $tenant AND g.recorded_at IS NOT NULL AND g.kind = 'cluster'
RETURN g.id AS id
ORDER BY id
