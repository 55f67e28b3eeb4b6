// doc: List the concepts joined to concepts by a fact or by their names, unless there are many.
// mode: read
// params: tenant STRING, concepts LIST<STRING>, hub INTEGER, retracted BOOLEAN
// returns: tail LIST<STRING>, head LIST<STRING>, edge LIST<STRING>, weight LIST<FLOAT>,
//   label LIST<STRING>, mentions LIST<INTEGER>, abouts LIST<INTEGER>
CYPHER 25
UNWIND $concepts AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant AND c:LiveConcept AND COUNT { (c)-[:RELATED|SYNONYM]-() } <= $hub
CALL (c) {
  MATCH (c)-[r:RELATED|SYNONYM|SAME_AS]-(d:LiveConcept)
  WHERE (NOT r:SAME_AS OR r.status = 'accepted') AND (r.weight > 0 OR $retracted)
  // A fact counts as such; one that was retracted since weighs 0.
  RETURN d, CASE WHEN r:RELATED THEN 'RELATED' ELSE 'SYNONYM' END AS edge,
    max(CASE WHEN r:RELATED THEN 1.0 ELSE r.weight END) AS weight
}
WITH c.id AS tail, d, edge, weight
ORDER BY tail, d.id, edge
RETURN collect(tail) AS tail, collect(d.id) AS head, collect(edge) AS edge,
  collect(weight) AS weight, collect(d.name) AS label, collect(d.mentions) AS mentions,
  collect(d.abouts) AS abouts
