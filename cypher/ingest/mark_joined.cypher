// doc: Mark the live episodes near many that are joined to those that go or sleep, and near few.
// mode: write
// params: tenant STRING, ids LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
// Who is near few is among the nearest of none but those that it is joined to.
WHERE e.tenant = $tenant AND e.crowd <= 15
MATCH (e)-[r:SIMILAR]-(near:LiveEpisode)
WHERE r.w_sim > 0 AND near.crowd > 15
SET near.touched = randomUUID()
