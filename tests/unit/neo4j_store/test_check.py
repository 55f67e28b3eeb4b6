import pytest

from ecphoria.neo4j_store.schema import what_is_missing

PROCEDURES = ("db.index.vector.queryNodes", "db.index.fulltext.queryNodes")


@pytest.mark.parametrize(
    "version", ["2026.01", "2026.01.4", "2026.1.0", "2026.02-aura", "2026.10.1", "2027.01.0"]
)
def test_a_server_from_the_floor_on_is_used(version: str) -> None:
    assert what_is_missing(version, PROCEDURES) == ()


@pytest.mark.parametrize(
    "version", ["4.4.48", "5.26.24", "5.27-aura", "2025.12.1", "2025.12", "2026", "", "dev"]
)
def test_an_older_server_is_told_the_first_that_will_do(version: str) -> None:
    (told,) = what_is_missing(version, PROCEDURES)
    for part in (version, "2026.01", "SEARCH", "update Neo4j", "unset its URI"):
        assert part in told


def test_each_missing_feature_is_told_with_its_remedy() -> None:
    vector, text = what_is_missing("2026.01.4", ())
    assert "vector indexes" in vector
    assert "full-text indexes" in text
    assert all("dbms.security.procedures.allowlist" in told for told in (vector, text))
    assert len(what_is_missing("5.26.24", ())) == 3
