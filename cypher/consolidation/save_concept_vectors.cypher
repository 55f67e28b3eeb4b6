// doc: Store the vectors of concepts; one that is no concept any more is left out.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
WHERE c.tenant = $tenant AND c:LiveConcept
CALL db.create.setNodeVectorProperty(c, 'embedding', row.vector)
