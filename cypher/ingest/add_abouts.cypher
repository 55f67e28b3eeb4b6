// doc: Join concepts to the items whose titles they are, and count.
// mode: write
// params: tenant STRING, groups LIST<MAP>
CYPHER 25
UNWIND $groups AS group
MATCH (c:Name {tenant: $tenant, normalised: group.concept})
SET c.abouts = c.abouts + size(group.rows)
WITH c, group
UNWIND group.rows AS row
MATCH (e:Episode {id: row.episode})
WHERE e.tenant = $tenant
CREATE (c)-[:ABOUT {family: 'abstraction', weight: 1.0, created_at: datetime()}]->(e)
