// doc: Count the associations above 0 of episodes and of concepts.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, degree INTEGER
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Episode {id: id})
  WHERE n.tenant = $tenant
  RETURN COUNT { (n)-[r:SIMILAR]-() WHERE r.weight > 0 } AS degree
  UNION ALL
  MATCH (n:Concept {id: id})
  WHERE n.tenant = $tenant
  RETURN COUNT { (n)-[r:ASSOCIATED]-() WHERE r.weight > 0 } AS degree
}
WITH id, degree
ORDER BY id
RETURN collect([id, degree]) AS rows
