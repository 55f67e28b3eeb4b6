// doc: List archived episodes that have not expired by turn, from a cursor on.
// mode: read
// params: tenant STRING, session STRING, speaker STRING, after_turn INTEGER, limit INTEGER
// returns: id STRING, turn INTEGER, summary STRING, title STRING, speaker STRING, session STRING,
//   occurred_at DATETIME, archived_at DATETIME, reason STRING, terms INTEGER
CYPHER 25
MATCH (e:ArchivedEpisode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
  AND coalesce(e.expires_at > datetime(), true)
  AND ($session IS NULL OR e.session = $session)
  // The lower-case form of the Turkish capital I has a dot of its own.
  AND ($speaker IS NULL
    OR trim(replace(toLower(e.speaker), 'i\u0307', 'i'))
      = trim(replace(toLower($speaker), 'i\u0307', 'i')))
RETURN e.id AS id, e.turn AS turn, e.summary AS summary, e.title AS title,
  nullIf(e.speaker, '') AS speaker, nullIf(e.session, '') AS session,
  e.occurred_at AS occurred_at, e.archived_at AS archived_at, e.state_reason AS reason,
  e.length AS terms
ORDER BY e.tenant, e.turn
LIMIT $limit
