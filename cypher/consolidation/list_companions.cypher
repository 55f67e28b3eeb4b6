// doc: Count with which concepts others are mentioned in the same episodes, hubs left out.
// mode: read
// params: tenant STRING, concepts LIST<STRING>, least INTEGER, most INTEGER
// each: of STRING, id STRING, joint INTEGER, mentions INTEGER, other_mentions INTEGER
CYPHER 25
UNWIND $concepts AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant AND c.mentions >= $least AND c.mentions <= $most
CALL (c) {
  MATCH (c)<-[:MENTIONS]-(:Episode)-[:MENTIONS]->(d:Concept)
  WITH d, count(*) AS joint
  WHERE joint >= $least AND d.mentions <= $most AND d <> c
  RETURN d, joint
}
WITH c, d, joint
ORDER BY c.id, d.id
RETURN collect([c.id, d.id, joint, c.mentions, d.mentions]) AS rows
