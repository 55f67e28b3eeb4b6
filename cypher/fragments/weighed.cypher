// doc: Compute the weight of an association anew: its parts, of which what was learned fades.
// params: now DATETIME
SET node.weight = 1 - (1 - coalesce(node.w_sim, 0.0)) * (1 - coalesce(node.w_lift, 0.0))
  * (1 - coalesce(node.w_learned, 0.0) * CASE
    WHEN node.last_used IS NULL OR node.last_used > $now THEN 1.0
    ELSE (1 + ($now.epochMillis - node.last_used.epochMillis) / 86400000.0) ^ -0.2
  END)
