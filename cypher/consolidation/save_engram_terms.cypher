// doc: Store the stems and vectors of engrams; one that went meanwhile is left out.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (g:Engram {id: row.id})
WHERE g.tenant = $tenant
SET g.terms = row.terms
WITH g, row
CALL db.create.setNodeVectorProperty(g, 'embedding', row.vector)
