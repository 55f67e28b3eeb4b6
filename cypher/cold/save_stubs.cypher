// doc: Leave of dormant episodes a stub each, without their edges to other episodes but NEXT.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// returns: id STRING
// plan: Eager all are found before the first changes, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND e:DormantEpisode
CALL (e) {
  MATCH (e)-[r]-(:Episode)
  WHERE type(r) <> 'NEXT'
  DELETE r
}
SET e = row.stub
REMOVE e:DormantEpisode
SET e:ArchivedEpisode
RETURN e.id AS id
