// doc: List the facts that relate concepts to others, with their keys.
// mode: read
// params: tenant STRING, concepts LIST<STRING>, hub INTEGER
// each: tail STRING, head STRING, fact STRING, key MAP
CYPHER 25
UNWIND $concepts AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant AND c:LiveConcept AND COUNT { (c)-[:RELATED|SYNONYM]-() } <= $hub
MATCH (c)-[r:RELATED]-(d:LiveConcept)
MATCH (f:Fact {id: r.fact})
WITH c.id AS tail, d.id AS head, f
ORDER BY tail, head, f.id
RETURN collect([
  tail, head, f.id, {subject: f.subject, relation: f.relation, qualifier: f.qualifier}
]) AS rows
