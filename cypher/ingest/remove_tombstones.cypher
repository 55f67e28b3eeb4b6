// doc: Forget that episodes were erased, as their keys are used again after the time to remember it.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (b:Tombstone {id: id})
WHERE b.tenant = $tenant
DELETE b
