// doc: Count a tenant's graph by kind.
// mode: read
// params: tenant STRING
// returns: episodes INTEGER, dormant INTEGER, archived INTEGER, passages INTEGER,
//   sessions INTEGER, speakers INTEGER,
//   concepts INTEGER, mentions INTEGER, abouts INTEGER, next_edges INTEGER, terms INTEGER,
//   traces INTEGER, recalls_learned INTEGER, recalls_pending INTEGER, unconsolidated INTEGER,
//   change INTEGER, first_occurred_at DATETIME, last_occurred_at DATETIME,
//   sums LIST<FLOAT>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
CALL (t) {
  MATCH (e:Episode)
  WHERE e.tenant = t.id AND e.turn IS NOT NULL
  RETURN count(e) AS episodes, sum(CASE WHEN e:LiveEpisode THEN 1 ELSE 0 END) AS live,
    sum(CASE WHEN e:ArchivedEpisode THEN 1 ELSE 0 END) AS archived,
    sum(COUNT { (e)-[:NEXT]->() }) AS next_edges,
    min(e.occurred_at) AS first_occurred_at, max(e.occurred_at) AS last_occurred_at
}
CALL (t) {
  MATCH (s:Session)
  WHERE s.tenant = t.id AND s.name IS NOT NULL
  RETURN count(s) AS sessions
}
CALL (t) {
  MATCH (p:Speaker)
  WHERE p.tenant = t.id AND p.name IS NOT NULL
  RETURN count(p) AS speakers
}
CALL (t) {
  MATCH (n:Name)
  WHERE n.tenant = t.id AND n.normalised IS NOT NULL
  RETURN count(n.id) AS concepts, sum(n.mentions) AS mentions, sum(n.abouts) AS abouts
}
CALL (t) {
  MATCH (w:Term)
  WHERE w.tenant = t.id AND w.stem IS NOT NULL
  RETURN count(w) AS terms
}
CALL (t) {
  MATCH (r:Trace)
  WHERE r.tenant = t.id AND r.created_at IS NOT NULL
  RETURN count(r) AS traces
}
CALL (t) {
  MATCH (p:Trace)
  WHERE p.tenant = t.id AND p.pending_since IS NOT NULL
  RETURN count(p) AS recalls_pending
}
RETURN episodes, episodes - live - archived AS dormant, archived,
  coalesce(t.passages, 0) AS passages, sessions, speakers, concepts, mentions, abouts,
  next_edges, terms, traces, coalesce(t.recall_total, 0) AS recalls_learned, recalls_pending,
  t.turn - coalesce(t.associated_turn, 0) AS unconsolidated,
  t.change AS change, first_occurred_at, last_occurred_at, coalesce(t.scale, []) AS sums
