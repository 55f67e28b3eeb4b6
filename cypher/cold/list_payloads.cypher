// doc: Fetch everything of episodes and their passages, with their edges to other episodes but NEXT.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, properties MAP, edges LIST<MAP>, passages LIST<MAP>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
RETURN e.id AS id, properties(e) AS properties, COLLECT {
  MATCH (e)-[r]-(o:Episode)
  WHERE type(r) <> 'NEXT'
  WITH r, o, startNode(r) = e AS out
  ORDER BY type(r), o.id, out
  RETURN {type: type(r), other: o.id, out: out, properties: properties(r)}
} AS edges, COLLECT {
  MATCH (e)-[:HAS_PASSAGE]->(p:Passage)
  RETURN properties(p)
  ORDER BY p.ordinal
} AS passages
ORDER BY id
