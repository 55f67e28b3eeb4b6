// doc: List where the records of archived episodes lie, by turn, from a cursor on.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
// each: id STRING, turn INTEGER, file STRING, offset INTEGER, digest STRING
CYPHER 25
MATCH (e:ArchivedEpisode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
RETURN collect([e.id, e.turn, e.archive_file, e.archive_offset, e.archive_digest]) AS rows
