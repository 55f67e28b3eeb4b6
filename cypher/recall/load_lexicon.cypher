// doc: Read the tenant's ranking statistics, how common some stems are, and concepts by name.
// mode: read
// params: tenant STRING, stems LIST<STRING>, names LIST<STRING>
// returns: items INTEGER, length INTEGER, titles INTEGER, stated INTEGER,
//   timed BOOLEAN, change INTEGER, deletions INTEGER, passages INTEGER, stored INTEGER,
//   learned BOOLEAN, expired BOOLEAN, settings JSON,
//   scale LIST<FLOAT>, generation INTEGER, participants LIST<STRING>, terms LIST<MAP>, concepts LIST<MAP>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.items AS items, t.length AS length,
  t.titles AS titles, t.stated AS stated,
  t.timed AS timed, t.change AS change, t.turn - t.items AS deletions,
  t.passages AS passages,
  // Of all tenants, for they share the vector indexes; Neo4j keeps this count.
  COUNT { (:LiveEpisode) } AS stored,
  t.recall_total + t.feedback_total > 0 AS learned,
  coalesce(t.expires_from <= datetime(), false) AS expired, t.settings AS settings,
  coalesce(t.scale, []) AS scale,
  coalesce(head(COLLECT { MATCH (s:Store {id: 'store'}) RETURN s.generation }), 0) AS generation,
  COLLECT {
    MATCH (p:Speaker)
    WHERE p.tenant = $tenant AND p.name IS NOT NULL
    RETURN p.name
    ORDER BY p.episodes DESC, p.name
    LIMIT 1000
  } AS participants,
  COLLECT {
    UNWIND $stems AS stem
    MATCH (s:Term {tenant: $tenant, stem: stem})
    WITH s
    ORDER BY s.stem
    RETURN {stem: s.stem, items: s.items}
  } AS terms,
  COLLECT {
    UNWIND $names AS name
    MATCH (c:Name {tenant: $tenant, normalised: name})
    WHERE c:LiveConcept
    WITH c, EXISTS { (:Word {tenant: $tenant, word: c.normalised}) } AS lower
    ORDER BY c.normalised
    RETURN {
      id: c.id, name: c.name, normalised: c.normalised, kind: c.kind,
      mentions: c.mentions, abouts: c.abouts, lower: lower
    }
  } AS concepts
