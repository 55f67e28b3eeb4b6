// doc: Give a concept with the memories that speak of it and have not expired.
// returns: id STRING, name STRING, normalised STRING, kind STRING, cognitive STRING,
//   description STRING, importance INTEGER, mentions INTEGER, first_occurred_at DATETIME,
//   last_occurred_at DATETIME
CALL (node) {
  MATCH (node)-[r:MENTIONS|ABOUT]-(e:Episode)
  WHERE coalesce(e.expires_at > datetime(), true)
  WITH r, e
  ORDER BY coalesce(r.importance, 0) DESC, e.occurred_at DESC, e.id
  RETURN head(collect(r.cognitive)) AS cognitive, head(collect(r.description)) AS description,
    max(r.importance) AS importance, count(DISTINCT e) AS mentions, min(e.occurred_at) AS first_occurred_at,
    max(e.occurred_at) AS last_occurred_at
}
WITH node.id AS id, node.name AS name, node.normalised AS normalised, node.kind AS kind,
  cognitive, description, importance, mentions, first_occurred_at, last_occurred_at
WHERE mentions > 0
