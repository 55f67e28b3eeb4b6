// doc: Search the vector index of engrams inside the tenant.
// mode: read
// params: tenant STRING, vector VECTOR, limit INTEGER
// returns: id STRING
CYPHER 25
MATCH (g:Engram)
SEARCH g IN (
  VECTOR INDEX engram_embedding
  FOR $vector
  WHERE g.tenant = $tenant
  LIMIT $limit
)
RETURN g.id AS id
ORDER BY id
