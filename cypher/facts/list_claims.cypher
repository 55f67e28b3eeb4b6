// doc: List what every episode claims of the facts of some keys, by key, fact and episode; names
//   that were merged share their keys.
// mode: read
// params: tenant STRING, keys LIST<MAP>
// each: place INTEGER, fact STRING, subject STRING, predicate STRING, object STRING,
//   qualifier STRING, negated BOOLEAN, standing STRING, ended_at DATETIME,
//   superseded_by STRING, contested_by STRING, episode STRING, valid_from DATETIME,
//   valid_to DATETIME, reliability FLOAT, occurred_at DATETIME, utc_offset INTEGER,
//   recorded_at DATETIME, by STRING, start INTEGER, end INTEGER
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
  place, f.id, f.subject, f.predicate, f.object, f.qualifier, f.negated,
  f.standing, f.valid_to, f.superseded_by, f.contested_by, e.id, r.valid_from, r.valid_to,
  r.reliability, e.occurred_at, e.utc_offset, e.recorded_at, r.by, r.start, r.end
]) AS rows
