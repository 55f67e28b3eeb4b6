// doc: List what every episode claims of the facts of some keys, by key, fact and episode; names
//   that were merged share their keys.
// mode: read
// params: tenant STRING, keys LIST<MAP>
// each: place INTEGER, stated MAP, fact STRING, episode STRING, valid_from DATETIME,
//   valid_to DATETIME, reliability FLOAT, occurred_at LOCAL_INSTANT, recorded_at DATETIME, quote MAP
CYPHER 25
UNWIND range(0, size($keys) - 1) AS place
WITH place, $keys[place] AS key
CALL (key) {
  RETURN key.subject AS subject
  UNION
  MATCH (:Name {tenant: $tenant, normalised: key.subject})
    (()-[r:SAME_AS WHERE r.status = 'accepted']-(:Name)){1,5}(n:Name)
  RETURN n.normalised AS subject
}
MATCH (f:Fact {
  tenant: $tenant, subject: subject, relation: key.relation, qualifier: key.qualifier
})
MATCH (f)-[r:EVIDENCE]->(e:Episode)
WITH place, f, r, e
ORDER BY place, f.id, e.id, r.valid_from, r.valid_to
RETURN collect([
  place, {
    id: f.id, subject: f.subject, predicate: f.predicate, object: f.object,
    qualifier: f.qualifier, negated: f.negated, standing: f.standing, valid_to: f.valid_to,
    superseded_by: f.superseded_by, contested_by: f.contested_by
  },
  f.id, e.id, r.valid_from, r.valid_to, r.reliability,
  [e.occurred_at.epochSeconds * 1000000 + e.occurred_at.microsecond, e.utc_offset],
  e.recorded_at,
  CASE WHEN r.start IS NOT NULL AND r.end IS NOT NULL
    THEN {episode: e.id, start: r.start, end: r.end, by: r.by} END
]) AS rows
