// doc: Read episodes of Graphiti with the names they mention and the facts they support.
// mode: read
// params: uuids LIST<STRING>
// returns: uuid STRING, content STRING, name STRING, group STRING, source STRING,
//   source_description STRING, names LIST<STRING>, facts LIST<MAP>
MATCH (e:Episodic)
WHERE e.uuid IN $uuids
RETURN
  e.uuid AS uuid,
  e.content AS content,
  e.name AS name,
  e.group_id AS group,
  e.source AS source,
  e.source_description AS source_description,
  COLLECT {
    MATCH (e)-[:MENTIONS]->(n:Entity)
    WHERE n.name IS NOT NULL
    RETURN DISTINCT n.name AS name
    ORDER BY name
  } AS names,
  COLLECT {
    MATCH (e)-[:MENTIONS]->(s:Entity)-[r:RELATES_TO]->(o:Entity)
    WHERE e.uuid IN r.episodes
    WITH DISTINCT s, r, o
    ORDER BY r.uuid
    RETURN {
      subject: s.name,
      predicate: r.name,
      object: o.name,
      valid_from: toStringOrNull(r.valid_at),
      valid_to: toStringOrNull(coalesce(r.invalid_at, r.expired_at))
    }
  } AS facts
