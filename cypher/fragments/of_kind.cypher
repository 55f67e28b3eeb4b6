// doc: Keep the episodes of a kind.
// params: kind STRING
AND ($kind IS NULL OR $kind =
  // use: kind(node)
)
