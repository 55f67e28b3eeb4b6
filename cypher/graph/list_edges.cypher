// doc: List the edges of nodes to memories and concepts that are shown, the strongest first; of
//   equal ones those to the latest memories and the most mentioned concepts.
// mode: read
// params: tenant STRING, frontier LIST<STRING>, episodes BOOLEAN, concepts BOOLEAN, limit INTEGER
// each: other STRING, tail STRING, head STRING, edge STRING, weight FLOAT
CYPHER 25
CALL () {
  UNWIND $frontier AS id
  MATCH (a:Episode {id: id})-[r:NEXT|SIMILAR]-(b:Episode)
  WHERE $episodes AND a.tenant = $tenant AND r.weight > 0 AND NOT b:ArchivedEpisode
    AND coalesce(b.expires_at > datetime(), true)
    AND ($as_of IS NULL OR b.occurred_at <= $as_of)
  RETURN b.id AS other, r, -b.turn AS tie
  UNION ALL
  UNWIND $frontier AS id
  MATCH (a:Concept {id: id})-[r:MENTIONS|ABOUT]-(b:Episode)
  WHERE $episodes AND a.tenant = $tenant AND NOT b:ArchivedEpisode
    AND coalesce(b.expires_at > datetime(), true)
    AND ($as_of IS NULL OR b.occurred_at <= $as_of)
  RETURN b.id AS other, r, -b.turn AS tie
  UNION ALL
  UNWIND $frontier AS id
  MATCH (a:Episode {id: id})-[r:MENTIONS|ABOUT]-(b:Concept)
  WHERE $concepts AND a.tenant = $tenant
  RETURN b.id AS other, r, -coalesce(b.mentions, 0) AS tie
  UNION ALL
  UNWIND $frontier AS id
  MATCH (a:Concept {id: id})-[r:RELATED|ASSOCIATED|SYNONYM|SAME_AS]-(b:Concept)
  WHERE $concepts AND a.tenant = $tenant
    AND CASE type(r)
      WHEN 'SYNONYM' THEN r.weight > 0
      WHEN 'SAME_AS' THEN r.status = 'accepted'
      WHEN 'ASSOCIATED' THEN r.weight > 0 AND EXISTS {
        MATCH (a)<-[:MENTIONS]-(e:Episode)-[:MENTIONS]->(b)
        WHERE coalesce(e.expires_at > datetime(), true)
          AND ($as_of IS NULL OR e.occurred_at <= $as_of)
      }
      ELSE r.weight > 0 AND EXISTS {
        MATCH (f:Fact {id: r.fact})-[:EVIDENCE]->(e:Episode)
        WHERE coalesce(e.expires_at > datetime(), true)
          AND ($as_of IS NULL OR e.occurred_at <= $as_of)
          AND ($as_of IS NULL OR any(
            place IN range(0, size(coalesce(f.held_from, [])) - 1)
            WHERE f.held_from[place] <= $as_of AND $as_of < f.held_until[place]
          ))
      }
    END
    // use: shown(b)
  RETURN b.id AS other, r, -coalesce(b.mentions, 0) AS tie
}
WITH DISTINCT other, startNode(r).id AS tail, endNode(r).id AS head, type(r) AS edge,
  r.weight AS weight, tie
ORDER BY weight DESC, tie, other, tail, head, edge
LIMIT $limit
RETURN collect([other, tail, head, edge, weight]) AS rows
