// doc: Search the vector index for the nearest items under a path, with the expired ones: the index
//   cannot filter them, and the number of rows tells whether there are more.
// mode: read
// params: tenant STRING, path_from STRING, path_before STRING, vector VECTOR, fetch INTEGER
// returns: namespace LIST<STRING>, key STRING, value JSON, created_at DATETIME,
//   updated_at DATETIME, expires_at DATETIME, score FLOAT
CYPHER 25
MATCH (n:Item)
SEARCH n IN (
  VECTOR INDEX item_embedding
  FOR $vector
  WHERE n.tenant = $tenant AND n.path >= $path_from AND n.path < $path_before
  LIMIT $fetch
) SCORE AS found
// use: scored(n)
RETURN n.namespace AS namespace, n.key AS key, n.value AS value, n.created_at AS created_at,
  n.updated_at AS updated_at, n.expires_at AS expires_at, score
ORDER BY score DESC, n.path, key
