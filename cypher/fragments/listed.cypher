// doc: Keep the episodes that pass the filters of a list and whose life is not over.
// params: state STRING, pinned BOOLEAN, speakers LIST<STRING>, role STRING,
//   metadata LIST<LIST<STRING>>, occurred_from DATETIME, occurred_before DATETIME
AND ($state IS NULL OR $state IN labels(node))
AND ($pinned IS NULL OR $pinned = (node.pinned IS NOT NULL))
AND ($speakers IS NULL OR node.speaker IN $speakers)
AND ($role IS NULL OR node.role = $role)
// use: of_kind(node)
AND all(forms IN $metadata WHERE any(form IN forms WHERE node.metadata CONTAINS form))
AND ($occurred_from IS NULL OR node.occurred_at >= $occurred_from)
AND ($occurred_before IS NULL OR node.occurred_at < $occurred_before)
AND coalesce(node.expires_at > datetime(), true)
