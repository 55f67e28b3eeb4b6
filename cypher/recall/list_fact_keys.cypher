// doc: List facts with their keys: these, those that episodes claim, and those that relate concepts to
//   others.
// mode: read
// params: tenant STRING, facts LIST<STRING>, episodes LIST<STRING>, concepts LIST<STRING>,
//   hub INTEGER
// each: of STRING, other STRING, fact STRING, key MAP
CYPHER 25
CALL () {
  UNWIND $facts AS id
  MATCH (f:Fact {id: id})
  WHERE f.tenant = $tenant
  RETURN '' AS of, '' AS other, f
  UNION ALL
  UNWIND $episodes AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant
  MATCH (e)<-[:EVIDENCE]-(f:Fact)
  RETURN DISTINCT id AS of, '' AS other, f
  UNION ALL
  UNWIND $concepts AS id
  MATCH (c:Concept {id: id})
  WHERE c.tenant = $tenant AND c:LiveConcept AND COUNT { (c)-[:RELATED|SYNONYM]-() } <= $hub
  MATCH (c)-[r:RELATED]-(d:LiveConcept)
  MATCH (f:Fact {id: r.fact})
  RETURN id AS of, d.id AS other, f
}
WITH of, other, f
ORDER BY of, other, f.id
RETURN collect([
  of, other, f.id, {subject: f.subject, relation: f.relation, qualifier: f.qualifier}
]) AS rows
