// doc: Record the generation of the vectors around which merges were searched.
// mode: write
// params: tenant STRING, ids LIST<STRING>, generation INTEGER
CYPHER 25
UNWIND $ids AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant
SET c.searched = $generation
