// doc: Count what is left of a tenant under every label: the proof of its erasure.
// mode: read
// params: tenant STRING
// returns: remaining INTEGER
CYPHER 25
CALL () {
  MATCH (n:Tenant {id: $tenant})
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Episode) WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Session) WHERE n.tenant = $tenant AND n.name IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Speaker) WHERE n.tenant = $tenant AND n.name IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Term) WHERE n.tenant = $tenant AND n.stem IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Word) WHERE n.tenant = $tenant AND n.word IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Name) WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Fact) WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Engram) WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Decision) WHERE n.tenant = $tenant AND n.number IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Trace) WHERE n.tenant = $tenant AND n.created_at IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:Job) WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
  RETURN count(n) AS found
  UNION ALL
  MATCH (n:ApiKey) WHERE n.tenant = $tenant
  RETURN count(n) AS found
}
RETURN sum(found) AS remaining
