// doc: Project a tenant's live episodes and concepts into the GDS catalogue, edges both ways.
// mode: read
// params: tenant STRING, graph STRING
// returns: nodes INTEGER, arcs INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn IS NOT NULL AND e:LiveEpisode
CALL (e) {
  MATCH (e)-[r:NEXT]->(other:LiveEpisode)
  RETURN r, other
  UNION ALL
  MATCH (e)-[r:MENTIONS|ABOUT]-(other:LiveConcept)
  RETURN r, other
}
WITH gds.graph.project(
  $graph, e, other, {relationshipProperties: r {.weight}}, {undirectedRelationshipTypes: ['*']}
) AS projected
RETURN projected.nodeCount AS nodes, projected.relationshipCount AS arcs
