// doc: Give stubs their payload back; they are dormant again.
// mode: write
// params: tenant STRING, rows LIST<MAP>, stays LIST<STRING>
// returns: id STRING
// plan: Eager all are found before the first changes, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND e:ArchivedEpisode
FOREACH (name IN [key IN keys(e) WHERE NOT key IN $stays] | REMOVE e[name])
SET e += row.payload, e.embedding = row.vector
REMOVE e:ArchivedEpisode
SET e:DormantEpisode
RETURN e.id AS id
