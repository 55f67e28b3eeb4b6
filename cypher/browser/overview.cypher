// What is in the store
//
// One row a tenant: how many memories it holds, how many of them sleep, in how many
// sessions, with how many concepts, and from when to when they reach. Counts the whole
// store, so it takes a moment when that is large.
MATCH (tenant:Tenant)
CALL (tenant) {
  OPTIONAL MATCH (memory:Episode {tenant: tenant.id})
  RETURN count(memory) AS memories,
         count(CASE WHEN NOT memory:LiveEpisode THEN 1 END) AS dormant,
         min(memory.occurred_at) AS first, max(memory.occurred_at) AS last
}
CALL (tenant) {
  OPTIONAL MATCH (session:Session {tenant: tenant.id})
  RETURN count(session) AS sessions
}
CALL (tenant) {
  OPTIONAL MATCH (concept:Concept {tenant: tenant.id})
  RETURN count(concept) AS concepts
}
RETURN tenant.name AS tenant, memories, dormant, sessions, concepts, first, last
ORDER BY memories DESC, tenant
LIMIT 50
