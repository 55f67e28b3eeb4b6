// doc: Count faults, and list the first ones by id with their details.
// params: limit INTEGER
// returns: found INTEGER, id LIST<STRING>, detail LIST<STRING>
WITH node, detail
WHERE detail IS NOT NULL
WITH node, detail
ORDER BY node, detail
RETURN count(*) AS found, collect(node)[..$limit] AS id, collect(detail)[..$limit] AS detail
