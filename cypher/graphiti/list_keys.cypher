// doc: List ids and times of the episodes in a database of Graphiti, a page at a time.
// mode: read
// params: group STRING, after STRING, limit INTEGER
// returns: uuid STRING, valid_at STRING
MATCH (e:Episodic)
// Graphiti's times have an offset or none, as its caller gave them, so they are read as text.
WHERE e.uuid > $after AND ($group IS NULL OR e.group_id = $group)
RETURN e.uuid AS uuid, toStringOrNull(coalesce(e.valid_at, e.created_at)) AS valid_at
ORDER BY uuid
LIMIT $limit
