// What is dormant
//
// Memories and concepts that sleep: out of every index and of spreading, with their edges
// kept. Each with the number of edges that would come back with it. Empty in a young store.
CALL () {
  MATCH (node:Episode)
  WHERE NOT node:LiveEpisode
  RETURN node, 'episode' AS kind, node.text AS what, node.dormant_at AS since
  ORDER BY since, node.id
  LIMIT 100
  UNION ALL
  MATCH (node:Concept)
  WHERE NOT node:LiveConcept
  RETURN node, 'concept' AS kind, node.name AS what, node.recorded_at AS since
  ORDER BY since, node.id
  LIMIT 100
}
RETURN kind, since, what, node.state_reason AS why, COUNT { (node)--() } AS edges, node
ORDER BY kind DESC, since, node.id
LIMIT 200
