// doc: List where the records of archived episodes lie by turn, of these or from a cursor on.
// mode: read
// params: tenant STRING, ids LIST<STRING>, after_turn INTEGER, limit INTEGER
// each: place MAP, turn INTEGER
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $ids IS NOT NULL THEN {
    UNWIND $ids AS id
    MATCH (e:Episode {id: id})
    WHERE e.tenant = tenant AND e:ArchivedEpisode
    RETURN e
  }
  ELSE {
    MATCH (e:ArchivedEpisode)
    WHERE e.tenant = tenant AND e.turn > $after_turn
    RETURN e
    ORDER BY e.tenant, e.turn
    LIMIT $limit
  }
}
WITH e
ORDER BY e.turn
RETURN collect([{
  id: e.id, file: e.archive_file, offset: e.archive_offset, sha256: e.archive_digest
}, e.turn]) AS rows
