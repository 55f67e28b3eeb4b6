// doc: Take all live episodes that pass filters that no index has, or the newest dormant ones.
// params: tenant STRING, scan INTEGER, role STRING, metadata LIST<STRING>
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $scan IS NULL THEN {
    MATCH (node:Episode)
    WHERE node.tenant = tenant AND node.turn > 0 AND node:LiveEpisode
      // use: placed(node)
      AND ($role IS NULL OR node.role = $role)
      // use: of_kind(node)
      AND ($metadata IS NULL OR node.metadata IN $metadata)
    RETURN node
  }
  ELSE {
    MATCH (node:DormantEpisode)
    WHERE node.tenant = tenant AND node.turn > 0
      // use: placed(node)
      AND ($role IS NULL OR node.role = $role)
      // use: of_kind(node)
      AND ($metadata IS NULL OR node.metadata IN $metadata)
    RETURN node
    ORDER BY node.tenant DESC, node.turn DESC
    LIMIT $scan
  }
}
