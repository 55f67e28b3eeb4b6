// doc: Store items, each in place of the one with the same address.
// mode: write
// params: tenant STRING, rows LIST<MAP>, now DATETIME
CYPHER 25
UNWIND $rows AS row
MERGE (n:Item {tenant: $tenant, path: row.path, key: row.key})
// An item that replaces an expired one is new. This is compared before the new end is set.
SET n.created_at = CASE WHEN n.expires_at <= $now THEN $now ELSE coalesce(n.created_at, $now) END,
  n.namespace = row.namespace, n.value = row.value, n.text = row.text, n.ttl_s = row.ttl_s,
  n.expires_at = row.expires_at, n.updated_at = $now, n.embedding = row.vector
// A vector made for the next model would be that of the old words.
REMOVE n.embedding_1
