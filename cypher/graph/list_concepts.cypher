// doc: List a tenant's concepts by name, by mentions or by the last mention, from a cursor on.
// mode: read
// params: tenant STRING, search STRING, sort STRING, after_place INTEGER, after_name STRING,
//   limit INTEGER
// returns: place INTEGER
CYPHER 25
MATCH (c:Concept)
WHERE c.tenant = $tenant AND c.normalised IS NOT NULL
  AND ($search IS NULL OR c.normalised CONTAINS $search)
// use: counted(c)
WITH *, CASE $sort
  WHEN 'name' THEN 0 WHEN 'mentions' THEN -mentions ELSE -last_occurred_at.epochMillis
END AS place
WHERE $after_place IS NULL OR place > $after_place
  OR (place = $after_place AND normalised > $after_name)
RETURN place, id, name, normalised, kind, cognitive, description, importance, mentions,
  first_occurred_at, last_occurred_at
ORDER BY place, normalised
LIMIT $limit
