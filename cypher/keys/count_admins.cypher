// doc: Count the operator's live keys that have the admin scope.
// mode: read
// returns: admins INTEGER
CYPHER 25
MATCH (k:ApiKey {tenant: ''})
WHERE k.revoked_at IS NULL AND 'admin' IN k.scopes
RETURN count(k) AS admins
