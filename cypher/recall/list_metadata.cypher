// doc: List the different metadata of a tenant's episodes in which wanted entries may stand.
// mode: read
// params: tenant STRING, metadata LIST<LIST<STRING>>
// returns: found LIST<STRING>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0
  AND all(forms IN $metadata WHERE any(form IN forms WHERE e.metadata CONTAINS form))
WITH DISTINCT e.metadata AS text
ORDER BY text
RETURN collect(text) AS found
