// doc: Delete items by address, and up to a thousand whose life is over, and count the former whose
//   life was not.
// mode: write
// params: tenant STRING, rows LIST<MAP>, now DATETIME
// returns: deleted INTEGER
// plan: Eager addresses are distinct, and the index finds all expired ones before a deletion
CYPHER 25
CALL () {
  UNWIND $rows AS row
  MATCH (n:Item {tenant: $tenant, path: row.path, key: row.key})
  WHERE n.expires_at IS NULL OR n.expires_at > $now
  RETURN n, 1 AS alive
  UNION ALL
  MATCH (n:Item)
  WHERE n.tenant = $tenant AND n.expires_at <= $now
  RETURN n, 0 AS alive
  LIMIT 1000
}
DETACH DELETE n
RETURN sum(alive) AS deleted
