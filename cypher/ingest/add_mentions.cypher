// doc: Join items to the concepts they mention, and count; a new description asks for a new vector.
// mode: write
// params: tenant STRING, groups LIST<MAP>
CYPHER 25
UNWIND $groups AS group
MATCH (c:Name {tenant: $tenant, normalised: group.concept})
SET c.mentions = c.mentions + size(group.rows), c.touched = randomUUID()
FOREACH (_ IN CASE
  WHEN any(row IN group.rows WHERE coalesce(row.description, row.cognitive) IS NOT NULL) THEN [1]
  ELSE []
END | SET c.embedding = null, c.embedding_1 = null, c.searched = null)
WITH c, group
UNWIND group.rows AS row
MATCH (e:Episode {id: row.episode})
WHERE e.tenant = $tenant
CREATE (e)-[:MENTIONS {
  family: 'abstraction', weight: row.weight, stated: row.stated, by: row.by,
  cognitive: row.cognitive, description: row.description, importance: row.importance,
  created_at: datetime()
}]->(c)
