// doc: Join items to the concepts they mention, and count.
// mode: write
// params: tenant STRING, groups LIST<MAP>
CYPHER 25
UNWIND $groups AS group
MATCH (c:Name {tenant: $tenant, normalised: group.concept})
SET c.mentions = c.mentions + size(group.rows), c.touched = randomUUID()
WITH c, group
UNWIND group.rows AS row
MATCH (e:Episode {id: row.episode})
WHERE e.tenant = $tenant
CREATE (e)-[:MENTIONS {
  family: 'abstraction', weight: row.weight, stated: row.stated, by: row.by,
  created_at: datetime()
}]->(c)
