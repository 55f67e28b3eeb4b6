// doc: Tell which of some names are concepts.
// mode: read
// params: tenant STRING, names LIST<STRING>
// returns: name STRING
CYPHER 25
UNWIND $names AS name
MATCH (c:Name {tenant: $tenant, normalised: name})
WHERE c:LiveConcept
RETURN c.normalised AS name
ORDER BY name
