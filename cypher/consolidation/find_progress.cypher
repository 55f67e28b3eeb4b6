// doc: Read up to which turn a tenant is associated.
// mode: read
// params: tenant STRING
// returns: turn INTEGER, items INTEGER, associated_turn INTEGER, associated_total INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
RETURN t.turn AS turn, t.items AS items, coalesce(t.associated_turn, 0) AS associated_turn,
  coalesce(t.associated_total, 0) AS associated_total
