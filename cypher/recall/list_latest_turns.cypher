// doc: List the latest live turns of a session, newest first.
// mode: read
// params: tenant STRING, session STRING, limit INTEGER
// returns: id STRING
CYPHER 25
MATCH (e:Episode)
USING INDEX SEEK e:Episode(tenant, session, ordinal)
WHERE e.tenant = $tenant AND e.session = $session AND e.ordinal >= 0 AND e:LiveEpisode
  AND coalesce(e.expires_at > datetime(), true)
WITH e.id AS id, e.ordinal AS ordinal
ORDER BY ordinal DESC
LIMIT $limit
RETURN id
ORDER BY ordinal DESC
