// doc: Compare all episodes that pass filters with a vector, where no index has the filters.
// mode: read
// params: tenant STRING, role STRING, metadata LIST<STRING>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0 AND e:LiveEpisode
  // use: placed(e)
  AND ($role IS NULL OR e.role = $role)
  AND ($metadata IS NULL OR e.metadata IN $metadata)
// use: scored(e)
// use: best_episodes(e)
