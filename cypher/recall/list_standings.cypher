// doc: List for every fact that episodes claim whether it holds, and the facts that replace it.
// mode: read
// params: tenant STRING, episodes LIST<STRING>, now DATETIME
// each: episode STRING, fact STRING, key MAP, holds BOOLEAN, ended BOOLEAN,
//   ended_at DATETIME, current LIST<STRING>
CYPHER 25
UNWIND $episodes AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
MATCH (e)<-[:EVIDENCE]-(f:Fact)
WITH DISTINCT id, f, any(
    place IN range(0, size(coalesce(f.held_from, [])) - 1)
    WHERE f.held_from[place] <= $now AND $now < f.held_until[place]
  ) AS holds
WITH id, f, holds, coalesce(f.standing, '') = 'retracted' AND NOT holds AS wrong
WITH id, f, holds, wrong, CASE WHEN holds OR f.held_from IS NULL AND NOT wrong THEN [] ELSE COLLECT {
  MATCH (g:Fact {
    tenant: $tenant, subject: f.subject, relation: f.relation, qualifier: f.qualifier
  })
  WHERE any(
    place IN range(0, size(coalesce(g.held_from, [])) - 1)
    WHERE g.held_from[place] <= $now AND $now < g.held_until[place]
  )
  RETURN g.id
  ORDER BY g.id
} END AS current, CASE WHEN wrong THEN COLLECT {
  // A retracted fact never held. For its memories it ended when somebody decided so.
  MATCH (d:Decision)-[:DECIDES]->(f)
  WHERE d.tenant = $tenant AND d.recorded_at <= $now
  RETURN d.recorded_at
  ORDER BY d.recorded_at
} ELSE [until IN coalesce(f.held_until, []) WHERE until <= $now] END AS ends
ORDER BY id, f.id
RETURN collect([
  id, f.id, {subject: f.subject, relation: f.relation, qualifier: f.qualifier}, holds,
  coalesce(f.standing IN ['held', 'retracted'], false) AND NOT holds AND ends <> [],
  last(ends), current
]) AS rows
