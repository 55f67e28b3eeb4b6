// doc: List which of some procedures and functions the server has.
// mode: read
// params: names LIST<STRING>
// returns: name STRING
SHOW PROCEDURES YIELD name
WHERE name IN $names
RETURN name
ORDER BY name
