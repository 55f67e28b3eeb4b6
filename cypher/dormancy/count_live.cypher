// doc: Count a tenant's live episodes.
// mode: read
// params: tenant STRING
// returns: live INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn IS NOT NULL AND e:LiveEpisode
RETURN count(e) AS live
