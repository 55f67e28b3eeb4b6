// doc: Find the stored spellings of a speaker, the wanted sessions that exist, some known names, and
//   the different metadata of episodes in which wanted entries may stand.
// mode: read
// params: tenant STRING, speaker STRING, sessions LIST<STRING>, metadata LIST<LIST<STRING>>,
//   limit INTEGER
// returns: speakers LIST<STRING>, sessions LIST<STRING>, known_speakers LIST<STRING>,
//   known_sessions LIST<STRING>, metadata LIST<STRING>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN
  COLLECT {
    MATCH (p:Speaker)
    WHERE p.tenant = $tenant AND p.name IS NOT NULL
      // The lower-case form of the Turkish capital I has a dot of its own.
      AND trim(replace(toLower(p.name), 'i\u0307', 'i'))
        = trim(replace(toLower($speaker), 'i\u0307', 'i'))
    RETURN p.name
    ORDER BY p.name
  } AS speakers,
  COLLECT {
    UNWIND $sessions AS name
    MATCH (s:Session {tenant: $tenant, name: name})
    RETURN s.name
    ORDER BY s.name
  } AS sessions,
  COLLECT {
    MATCH (p:Speaker)
    WHERE p.tenant = $tenant AND p.name IS NOT NULL
    RETURN p.name
    ORDER BY p.episodes DESC, p.name
    LIMIT $limit
  } AS known_speakers,
  COLLECT {
    MATCH (s:Session)
    WHERE s.tenant = $tenant AND s.name IS NOT NULL
    RETURN s.name
    ORDER BY s.tenant, s.name
    LIMIT $limit
  } AS known_sessions,
  COLLECT {
    UNWIND CASE WHEN $metadata = [] THEN [] ELSE [t.id] END AS tenant
    MATCH (e:Episode)
    WHERE e.tenant = tenant AND e.turn > 0
      AND all(forms IN $metadata WHERE any(form IN forms WHERE e.metadata CONTAINS form))
    WITH DISTINCT e.metadata AS text
    RETURN text
    ORDER BY text
  } AS metadata
