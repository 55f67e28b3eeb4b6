// doc: List the two turns before each of some turns of a session, in order.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, speakers LIST<STRING>, texts LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
OPTIONAL MATCH (one:LiveEpisode)-[:NEXT]->(e)
OPTIONAL MATCH (two:LiveEpisode)-[:NEXT]->(one)
WITH id, [turn IN [two, one] WHERE turn IS NOT NULL] AS turns
RETURN id, [turn IN turns | coalesce(turn.speaker, '')] AS speakers,
  [turn IN turns | coalesce(turn.text, '')] AS texts
ORDER BY id
