// doc: List merges by their names, from after a pair on, with the memories and facts of both
//   concepts; what only memories speak of whose life is over has no row.
// mode: read
// params: tenant STRING, status STRING, after_one STRING, after_other STRING, limit INTEGER
// returns: one STRING, other STRING, kind STRING, cosine FLOAT, reason STRING, status STRING,
//   decided_at DATETIME, sides LIST<MAP>, memories INTEGER, predicates LIST<STRING>
CYPHER 25
MATCH (a:Name)
WHERE a.tenant = $tenant AND a.normalised >= $after_one
MATCH (a)-[r:SAME_AS]->(b:Concept)
WHERE ($status IS NULL OR r.status = $status)
  AND (a.normalised > $after_one OR b.normalised > $after_other)
  AND all(c IN [a, b] WHERE EXISTS {
    MATCH (c)-[:MENTIONS|ABOUT]-(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  })
WITH a, r, b
ORDER BY a.normalised, b.normalised
LIMIT $limit
RETURN a.normalised AS one, b.normalised AS other, a.kind AS kind, r.cosine AS cosine,
  r.reason AS reason, r.status AS status, r.decided_at AS decided_at,
  COLLECT {
    UNWIND [a, b] AS c
    RETURN {
      id: c.id, name: c.name,
      mentions: COUNT {
        MATCH (c)-[:MENTIONS|ABOUT]-(e:Episode)
        WHERE coalesce(e.expires_at > datetime(), true)
        RETURN DISTINCT e
      },
      facts: COUNT {
        MATCH (f:Fact {tenant: $tenant, subject: c.normalised})
        WHERE f.relation IS NOT NULL AND EXISTS {
          MATCH (f)-[:EVIDENCE]->(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
        }
      },
      samples: COLLECT {
        MATCH (c)-[:MENTIONS|ABOUT]-(e:Episode)
        WHERE coalesce(e.expires_at > datetime(), true)
        WITH DISTINCT e
        ORDER BY e.turn DESC
        LIMIT 2
        WITH e, coalesce(e.text, e.summary) AS text
        WITH e, text, size(split(toLower(text), toLower(c.name))[0]) AS place
        RETURN {
          episode: e.id, speaker: nullIf(e.speaker, ''), occurred_at: e.occurred_at,
          text: substring(
            text, CASE WHEN place > 60 AND place < size(text) THEN place - 60 ELSE 0 END, 160
          )
        }
      }
    } AS side
  } AS sides,
  COUNT {
    UNWIND [a, b] AS c
    MATCH (c)-[:MENTIONS|ABOUT]-(e:Episode)
    WHERE coalesce(e.expires_at > datetime(), true)
    RETURN DISTINCT e
  } AS memories,
  COLLECT {
    MATCH (f:Fact {tenant: $tenant, subject: a.normalised})
    WHERE f.relation IS NOT NULL
    MATCH (g:Fact {tenant: $tenant, subject: b.normalised, relation: f.relation})
    WHERE all(one IN [f, g] WHERE EXISTS {
      MATCH (one)-[:EVIDENCE]->(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
    })
    RETURN DISTINCT f.relation AS predicate
    ORDER BY predicate
  } AS predicates
ORDER BY one, other
