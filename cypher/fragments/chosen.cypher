// doc: Find the given episodes by their ids, or all of the tenant if none are given.
// params: tenant STRING, ids LIST<STRING>
WITH $tenant AS tenant, $ids AS ids
CALL (tenant, ids) {
  WHEN ids IS NULL THEN {
    MATCH (each:Episode)
    WHERE each.tenant = tenant AND each.turn > 0
    RETURN each AS node
  }
  // One by one: a scan would read the whole tenant for a few.
  ELSE {
    UNWIND ids AS id
    MATCH (one:Episode {id: id})
    WHERE one.tenant = tenant
    RETURN DISTINCT one AS node
  }
}
