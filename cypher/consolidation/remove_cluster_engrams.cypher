// doc: Delete engrams.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first is deleted, chunks are small
CYPHER 25
UNWIND $ids AS id
MATCH (g:Engram {id: id})
WHERE g.tenant = $tenant
DETACH DELETE g
