// doc: Project a tenant's live episodes and concepts into the GDS catalogue, edges both ways.
// mode: read
// params: tenant STRING, graph STRING
// returns: nodes INTEGER, arcs INTEGER
CYPHER 25
CALL () {
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.turn IS NOT NULL AND e:LiveEpisode
  CALL (e) {
    MATCH (e)-[r:NEXT]->(other:LiveEpisode)
    RETURN r, other
    UNION ALL
    MATCH (e)-[r:MENTIONS|ABOUT]-(other:LiveConcept)
    RETURN r, other
  }
  RETURN e AS node, r, other
  UNION ALL
  MATCH (c:Name)
  WHERE c.tenant = $tenant AND c.normalised IS NOT NULL AND c:LiveConcept
  MATCH (c)-[r:ASSOCIATED]->(other:LiveConcept)
  RETURN c AS node, r, other
}
WITH gds.graph.project(
  $graph, node, other, {relationshipProperties: r {.weight}},
  {undirectedRelationshipTypes: ['*']}
) AS projected
RETURN projected.nodeCount AS nodes, projected.relationshipCount AS arcs
