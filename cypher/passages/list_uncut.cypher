// doc: List, of the next episodes by turn, the last and those with a text but without passages.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER, longer_than INTEGER
// returns: last_turn INTEGER, id LIST<STRING>, title LIST<STRING>, text LIST<STRING>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
WITH e, CASE
  WHEN size(e.text) > $longer_than AND NOT EXISTS { (e)-[:HAS_PASSAGE]->() } THEN e
END AS uncut
RETURN max(e.turn) AS last_turn, collect(uncut.id) AS id,
  collect(CASE WHEN uncut IS NULL THEN null ELSE coalesce(uncut.title, '') END) AS title,
  collect(uncut.text) AS text
