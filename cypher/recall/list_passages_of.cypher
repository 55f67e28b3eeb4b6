// doc: Fetch the passages of episodes; of an episode that is there and has none, its id alone.
// mode: read
// params: tenant STRING, ids LIST<STRING>, dormant BOOLEAN
// each: episode STRING, part INTEGER, start INTEGER, end INTEGER, terms STRING, length INTEGER,
//   vector BYTES
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
  AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
OPTIONAL MATCH (e)-[:HAS_PASSAGE]->(p:Passage)
WITH e, p
ORDER BY e.id, p.ordinal
RETURN collect([
  e.id, p.ordinal, p.start, p.end, p.terms, p.length,
  p.embedding
]) AS rows
