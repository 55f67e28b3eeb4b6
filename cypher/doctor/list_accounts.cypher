// doc: List the share of each episode in the counts, by turn, from a cursor on.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
// each: id STRING, turn INTEGER, session STRING, ordinal INTEGER, titled BOOLEAN,
//   length INTEGER, near_length FLOAT, terms STRING, live BOOLEAN
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
RETURN collect([
  e.id, e.turn, e.session, e.ordinal, e.title IS NOT NULL, e.length, e.near_length, e.terms,
  e:LiveEpisode
]) AS rows
