// doc: Keep the episodes that pass the filters of a list and whose life is not over.
// params: state STRING, pinned BOOLEAN, speakers LIST<STRING>, role STRING, kind STRING,
//   metadata LIST<LIST<STRING>>, occurred_from DATETIME, occurred_before DATETIME
AND ($state IS NULL OR $state IN labels(node))
AND ($pinned IS NULL OR $pinned = (node.pinned IS NOT NULL))
AND ($speakers IS NULL OR node.speaker IN $speakers)
AND ($role IS NULL OR node.role = $role)
AND ($kind IS NULL OR $kind = coalesce(node.kind, CASE
  WHEN node.role = 'tool' THEN 'procedural' WHEN node.title IS NOT NULL THEN 'semantic'
  ELSE 'episodic'
END))
AND all(forms IN $metadata WHERE any(form IN forms WHERE node.metadata CONTAINS form))
AND ($occurred_from IS NULL OR node.occurred_at >= $occurred_from)
AND ($occurred_before IS NULL OR node.occurred_at < $occurred_before)
AND coalesce(node.expires_at > datetime(), true)
