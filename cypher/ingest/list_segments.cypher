// doc: List the turns of sessions after an order key each, and a margin of turns before it.
// mode: read
// params: tenant STRING, starts LIST<MAP>, margin INTEGER
// each: session STRING, id STRING, ordinal INTEGER, occurred_at INSTANT, position INTEGER,
//   sequence INTEGER
CYPHER 25
UNWIND $starts AS start
WITH start,
  datetime({epochSeconds: start.occurred_at[0], nanosecond: start.occurred_at[1]}) AS at
CALL (start, at) {
  MATCH (before:Episode)
  USING INDEX SEEK before:Episode(tenant, session, occurred_at)
  WHERE before.tenant = $tenant AND before.session = start.session
    AND before.occurred_at <= at
    // By OR the server would read all turns before this one, and sort them.
    AND CASE
      WHEN before.occurred_at = at
      THEN coalesce(before.position, 0) <= coalesce(start.position, 0)
      ELSE true
    END
  WITH before
  // All columns of the index, so that it is walked backwards instead of sorted.
  ORDER BY before.tenant DESC, before.session DESC, before.occurred_at DESC,
    before.ordinal DESC
  LIMIT 1
  RETURN coalesce(max(before.ordinal), -1) AS last
}
MATCH (e:Episode)
USING INDEX SEEK e:Episode(tenant, session, ordinal)
WHERE e.tenant = $tenant AND e.session = start.session
  AND e.ordinal > last - $margin
WITH e
ORDER BY e.session, e.ordinal, e.turn
RETURN collect([
  e.session, e.id, e.ordinal, e.occurred_at.epochSeconds * 1000000 + e.occurred_at.microsecond,
  e.position, e.turn
]) AS rows
