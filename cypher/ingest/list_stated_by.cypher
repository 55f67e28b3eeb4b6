// doc: List the names that items came with, and count their facts.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, stated MAP
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e
ORDER BY e.id
RETURN collect([
  e.id, {
    names: COLLECT { MATCH (e)-[r:MENTIONS]->(c:Concept) WHERE r.stated RETURN c.normalised },
    facts: COUNT { (e)<-[:EVIDENCE]-(:Fact) }
  }
]) AS rows
