// doc: Compare one by one, with a vector or a cue's stems, all live episodes that pass filters, or the
//   newest dormant ones.
// mode: read
// params: tenant STRING, vector VECTOR, stems LIST<STRING>, scan INTEGER, role STRING,
//   metadata LIST<STRING>
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  // Filters that no index has.
  WHEN $scan IS NULL THEN {
    MATCH (e:Episode)
    WHERE e.tenant = tenant AND e.turn > 0 AND e:LiveEpisode
      // use: placed(e)
      AND ($role IS NULL OR e.role = $role)
      // use: of_kind(e)
      AND ($metadata IS NULL OR e.metadata IN $metadata)
    RETURN e
  }
  ELSE {
    MATCH (e:DormantEpisode)
    WHERE e.tenant = tenant AND e.turn > 0
      // use: placed(e)
      AND ($role IS NULL OR e.role = $role)
      // use: of_kind(e)
      AND ($metadata IS NULL OR e.metadata IN $metadata)
    RETURN e
    ORDER BY e.tenant DESC, e.turn DESC
    LIMIT $scan
  }
}
WITH e, CASE WHEN $vector IS NULL THEN ' ' + e.terms + ' ' END AS terms
WITH e, CASE
  WHEN $vector IS NULL
  THEN nullIf(size([stem IN $stems WHERE terms CONTAINS ' ' + stem + ' ']) * 1.0, 0.0)
  ELSE 1 - vector_distance(
    vector(e.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  )
END AS score
// An episode that was archived a moment ago has no vector and no stems.
WHERE score IS NOT NULL
// use: best_episodes(e)
