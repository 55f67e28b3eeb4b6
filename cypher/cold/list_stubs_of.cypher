// doc: List where the records of the archived ones of the episodes are.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, turn INTEGER, file STRING, offset INTEGER, digest STRING
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e:ArchivedEpisode
WITH e
ORDER BY e.turn
RETURN collect([e.id, e.turn, e.archive_file, e.archive_offset, e.archive_digest]) AS rows
