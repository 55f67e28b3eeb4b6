// doc: Remove the vector of a concept if the mention `r`, which goes, describes it.
FOREACH (_ IN CASE WHEN coalesce(r.description, r.cognitive) IS NULL THEN [] ELSE [1] END |
  SET node.embedding = null, node.embedding_1 = null, node.searched = null)
