// doc: Keep the episodes that pass the filters of a recall.
// params: role STRING, metadata LIST<STRING>
AND ($role IS NULL OR node.role = $role)
// use: placed(node)
// use: of_kind(node)
AND ($metadata IS NULL OR node.metadata IN $metadata)
