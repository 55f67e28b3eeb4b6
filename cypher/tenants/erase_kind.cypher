// doc: Delete one batch of a tenant's nodes of one kind, or its own, with their edges, and count it.
// mode: write
// params: tenant STRING, kind STRING, batch INTEGER
// returns: deleted INTEGER
// plan: Eager the batch is found before its first node is deleted
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $kind = 'jobs' THEN {
    MATCH (n:Job) WHERE n.tenant = tenant AND n.recorded_at IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'traces' THEN {
    MATCH (n:Trace) WHERE n.tenant = tenant AND n.created_at IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'engrams' THEN {
    MATCH (n:Engram) WHERE n.tenant = tenant AND n.recorded_at IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'decisions' THEN {
    MATCH (n:Decision) WHERE n.tenant = tenant AND n.number IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'facts' THEN {
    MATCH (n:Fact) WHERE n.tenant = tenant AND n.recorded_at IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'passages' THEN {
    MATCH (n:Passage) WHERE n.tenant = tenant AND n.turn IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'episodes' THEN {
    MATCH (n:Episode) WHERE n.tenant = tenant AND n.turn IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'tombstones' THEN {
    MATCH (n:Tombstone) WHERE n.tenant = tenant AND n.erased_at IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'sessions' THEN {
    MATCH (n:Session) WHERE n.tenant = tenant AND n.name IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'speakers' THEN {
    MATCH (n:Speaker) WHERE n.tenant = tenant AND n.name IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'names' THEN {
    MATCH (n:Name) WHERE n.tenant = tenant AND n.normalised IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'terms' THEN {
    MATCH (n:Term) WHERE n.tenant = tenant AND n.stem IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'words' THEN {
    MATCH (n:Word) WHERE n.tenant = tenant AND n.word IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'items' THEN {
    MATCH (n:Item) WHERE n.tenant = tenant AND n.path IS NOT NULL
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'keys' THEN {
    MATCH (n:ApiKey) WHERE n.tenant = tenant
    RETURN n LIMIT $batch
  }
  WHEN $kind = 'tenants' THEN {
    MATCH (n:Tenant {id: tenant})
    RETURN n
  }
}
DETACH DELETE n
RETURN count(*) AS deleted
