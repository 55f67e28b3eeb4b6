"""Ends of memories' lives, without a wait."""

from tests.conftest import Cypher


async def let_end(cypher: Cypher, *ids: str) -> None:
    """Let the lives of some episodes be over, as if their time had passed."""
    await cypher(
        "MATCH (e:Episode) WHERE e.id IN $ids AND e.expires_at IS NOT NULL"
        " SET e.expires_at = datetime() - duration('PT1S')"
        " WITH DISTINCT e.tenant AS tenant MATCH (t:Tenant {id: tenant})"
        " SET t.expires_from = datetime() - duration('PT1S')",
        ids=list(ids),
    )
