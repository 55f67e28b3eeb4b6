// doc: Keep what a memory speaks of that has not expired, and that had occurred by then.
// params: as_of DATETIME
AND EXISTS {
  MATCH (node)-[:MENTIONS|ABOUT|EVIDENCE]-(e:Episode)
  WHERE coalesce(e.expires_at > datetime(), true)
    AND ($as_of IS NULL OR e.occurred_at <= $as_of)
}
