// doc: Take all live episodes that pass filters that no index has, or the newest dormant ones.
// params: tenant STRING, scan INTEGER
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $scan IS NULL THEN {
    MATCH (node:Episode)
    WHERE node.tenant = tenant AND node.turn > 0 AND node:LiveEpisode
      // use: filtered(node)
    RETURN node
  }
  ELSE {
    MATCH (node:DormantEpisode)
    WHERE node.tenant = tenant AND node.turn > 0
      // use: filtered(node)
    RETURN node
    ORDER BY node.tenant DESC, node.turn DESC
    LIMIT $scan
  }
}
