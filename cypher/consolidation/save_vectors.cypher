// doc: Store the vectors of concepts, or of engrams with their stems; one that went is left out.
// mode: write
// params: tenant STRING, concepts BOOLEAN, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  WHEN $concepts THEN {
    MATCH (n:Concept {id: row.id})
    WHERE n.tenant = $tenant AND n:LiveConcept
    RETURN n
  }
  ELSE {
    MATCH (n:Engram {id: row.id})
    WHERE n.tenant = $tenant
    SET n.terms = row.terms
    RETURN n
  }
}
SET n.embedding = row.vector
