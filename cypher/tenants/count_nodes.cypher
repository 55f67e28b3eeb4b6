// doc: Count a tenant's nodes by label, each kind in one walk of an index; no row for none.
// mode: read
// params: tenant STRING
// returns: label STRING, nodes INTEGER
CYPHER 25
CALL () {
  MATCH (n:Tenant {id: $tenant})
  RETURN 'Tenant' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Episode) WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  UNWIND labels(n) AS label
  RETURN label, count(n) AS nodes
  UNION ALL
  MATCH (n:Passage) WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  UNWIND labels(n) AS label
  RETURN label, count(n) AS nodes
  UNION ALL
  MATCH (n:Session) WHERE n.tenant = $tenant AND n.name IS NOT NULL
  RETURN 'Session' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Speaker) WHERE n.tenant = $tenant AND n.name IS NOT NULL
  RETURN 'Speaker' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Term) WHERE n.tenant = $tenant AND n.stem IS NOT NULL
  RETURN 'Term' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Word) WHERE n.tenant = $tenant AND n.word IS NOT NULL
  RETURN 'Word' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Name) WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  UNWIND labels(n) AS label
  RETURN label, count(n) AS nodes
  UNION ALL
  MATCH (n:Fact) WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  UNWIND labels(n) AS label
  RETURN label, count(n) AS nodes
  UNION ALL
  MATCH (n:Engram) WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN 'Engram' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Decision) WHERE n.tenant = $tenant AND n.number IS NOT NULL
  RETURN 'Decision' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Trace) WHERE n.tenant = $tenant AND n.created_at IS NOT NULL
  RETURN 'Trace' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Job) WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN 'Job' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Tombstone)
  WHERE n.tenant = $tenant AND n.erased_at IS NOT NULL
  RETURN 'Tombstone' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:Item) WHERE n.tenant = $tenant AND n.path IS NOT NULL
  RETURN 'Item' AS label, count(n) AS nodes
  UNION ALL
  MATCH (n:ApiKey) WHERE n.tenant = $tenant
  RETURN 'ApiKey' AS label, count(n) AS nodes
}
WITH label, nodes
WHERE nodes > 0
RETURN label, nodes
ORDER BY label
