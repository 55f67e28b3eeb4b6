// doc: Store the number of near episodes, and the bound of the nearest ones.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
SET e.crowd = row.size, e.crowd_cosine = row.cosine, e.crowd_turn = row.turn
