// doc: List the share of each episode in the counts with its texts, by turn, from a cursor on.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
// each: id STRING, turn INTEGER, session STRING, ordinal INTEGER, title STRING,
//   length INTEGER, text STRING, terms STRING, passages INTEGER, live BOOLEAN
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
RETURN collect([
  e.id, e.turn, e.session, e.ordinal, e.title, e.length, e.text, e.terms,
  COUNT { (e)-[:HAS_PASSAGE]->(:Passage) }, e:LiveEpisode
]) AS rows
