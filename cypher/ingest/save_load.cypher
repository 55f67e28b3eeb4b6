// doc: Store how many items of a first load are done.
// mode: write
// params: tenant STRING, load STRING, loaded INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.load = $load, t.loaded = $loaded
