// doc: Compute how an episode is kept and used; the uses of an archived one are in the archive.
//   Time counts in whole hours, so that two looks at an episode are equal.
WITH *, node.pinned IS NOT NULL AS pinned,
  CASE WHEN NOT node:ArchivedEpisode THEN coalesce(node.access_count, 1) - 1 END AS uses,
  CASE WHEN node.access_count > 1 THEN toInteger(node.stability_at) * 1000 END AS last_used_at,
  CASE WHEN NOT node:ArchivedEpisode THEN
    datetime().epochMillis - coalesce(node.stability_at, node.occurred_at.epochMillis)
  END AS unused_ms
WITH *, CASE
  WHEN unused_ms > 0 THEN exp(-floor(unused_ms / 3600000.0) / 24.0 / coalesce(node.stability, 30.0))
  WHEN unused_ms <= 0 THEN 1.0
END AS retrievability
