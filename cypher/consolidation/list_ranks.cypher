// doc: Read the ranks of a projection as columns, with the priors stored before (-1: none).
// mode: read
// params: graph STRING
// returns: id LIST<STRING>, is_concept LIST<BOOLEAN>, value LIST<FLOAT>, stored LIST<FLOAT>
CYPHER 25
CALL gds.graph.nodeProperty.stream($graph, 'rank') YIELD nodeId, propertyValue
WITH nodeId, gds.util.asNode(nodeId) AS n, propertyValue AS value
// A node deleted since it was projected has no id any more.
WHERE n.id IS NOT NULL
WITH n, value
ORDER BY nodeId
RETURN collect(n.id) AS id, collect(n.turn IS NULL) AS is_concept, collect(value) AS value,
  collect(coalesce(n.prior, -1.0)) AS stored
