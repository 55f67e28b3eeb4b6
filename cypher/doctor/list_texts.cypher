// doc: List the text of each episode by turn, from a cursor on; none for archived ones.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
// each: turn INTEGER, title STRING, text STRING, id STRING, passages INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
RETURN collect([
  e.turn, e.title, e.text, e.id, COUNT { (e)-[:HAS_PASSAGE]->(:Passage) }
]) AS rows
