// doc: Store how episodes were used.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
SET e.access_recent = row.recent_ms, e.access_count = row.count,
  e.first_access_at = row.first_ms, e.stability = row.stability,
  e.stability_at = row.stability_ms, e.r1 = row.working, e.r2 = row.lasting,
  e.chain_at = row.chain_ms, e.recall_count = row.recalls
