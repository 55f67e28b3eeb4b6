// doc: Delete engrams, and those of a session if one is named.
// mode: write
// params: tenant STRING, ids LIST<STRING>, session STRING
// plan: Eager all are found before the first is deleted, chunks are small
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (g:Engram {id: id})
  WHERE g.tenant = $tenant
  RETURN g
  UNION
  MATCH (g:Engram)-[:SUMMARISES]->(:Session {tenant: $tenant, name: $session})
  RETURN g
}
DETACH DELETE g
