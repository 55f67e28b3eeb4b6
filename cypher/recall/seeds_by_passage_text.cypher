// doc: Search the text index of passages; filters other than the tenant's cut its ranked hits.
// mode: read
// params: tenant STRING, query STRING, fetch INTEGER, role STRING, metadata LIST<STRING>
CYPHER 25
CALL db.index.fulltext.queryNodes('passage_terms', $query, {limit: $fetch})
YIELD node AS p, score
WHERE p.tenant = $tenant
  // use: placed(p)
  AND ($role IS NULL AND $kind IS NULL AND $metadata IS NULL OR EXISTS {
    MATCH (p)<-[:HAS_PASSAGE]-(e:Episode)
    WHERE ($role IS NULL OR e.role = $role)
      // use: of_kind(e)
      AND ($metadata IS NULL OR e.metadata IN $metadata)
  })
WITH p, score
// use: best_passages(p)
