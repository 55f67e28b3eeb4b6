// doc: Count a tenant's edges by type, and edges without family or weight.
// mode: read
// params: tenant STRING
// returns: type STRING, edges INTEGER, faulty INTEGER
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Fact)
  WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Engram)
  WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Decision)
  WHERE n.tenant = $tenant AND n.number IS NOT NULL
  RETURN n
}
MATCH (n)-[r]->()
RETURN type(r) AS type, count(*) AS edges,
  sum(CASE WHEN r.family IS NULL OR r.weight IS NULL THEN 1 ELSE 0 END) AS faulty
ORDER BY type
