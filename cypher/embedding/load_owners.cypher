// doc: Read the texts of episodes that passages are cut from.
// mode: read
// params: ids LIST<STRING>
// returns: id STRING, title STRING, text STRING
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.text IS NOT NULL
RETURN e.id AS id, e.title AS title, e.text AS text
ORDER BY id
