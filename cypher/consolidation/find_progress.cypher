// doc: Read up to which turn a tenant is associated.
// mode: read
// params: tenant STRING
// returns: turn INTEGER, items INTEGER, associated_turn INTEGER, associated_total INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
RETURN t.turn AS turn, t.items AS items, t.associated_turn AS associated_turn,
  t.associated_total AS associated_total
