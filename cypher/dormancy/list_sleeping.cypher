// doc: List dormant episodes by turn, from a cursor on.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
// returns: id STRING, turn INTEGER, text STRING, speaker STRING, session STRING,
//   occurred_at DATETIME, dormant_at DATETIME, reason STRING
CYPHER 25
MATCH (e:DormantEpisode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
  AND coalesce(e.expires_at > datetime(), true)
RETURN e.id AS id, e.turn AS turn, e.text AS text, nullIf(e.speaker, '') AS speaker,
  nullIf(e.session, '') AS session, e.occurred_at AS occurred_at, e.dormant_at AS dormant_at, e.state_reason AS reason
ORDER BY e.tenant, e.turn
LIMIT $limit
