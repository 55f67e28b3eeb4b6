// What is dormant
//
// Memories that sleep: out of every index and of spreading, with their edges kept. Each with the
// number of edges that would come back with it. Empty in a young store.
MATCH (node:Episode)
WHERE NOT node:LiveEpisode
RETURN node.dormant_at AS since, node.text AS what, node.state_reason AS why,
  COUNT { (node)--() } AS edges, node
ORDER BY since, node.id
LIMIT 100
