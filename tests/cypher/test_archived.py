"""Queries and archived episodes: no derived property on a stub, no score of a missing vector."""

import re

from ecphoria.neo4j_store.queries import Query, cypher_root, load_queries
from tests.each import for_each

DERIVED = frozenset((
    "access_count", "access_recent", "chain_at", "crowd", "crowd_cosine", "crowd_turn",
    "first_access_at", "lif_i", "lif_turn", "lif_v", "prior", "r1", "r2", "recall_count",
    "reliability_0", "reward_neg", "reward_pos", "salience", "spike_strengths", "spike_turns",
    "stability", "stability_at", "tau",
))  # fmt: skip
"""What consolidation and learning write onto an episode."""
# Of the episode's variables in our queries; concepts are `c` and have priors too.
WRITES = re.compile(r"\b(?:e|n)\.(\w+) = ")
SET = re.compile(r"\bSET\b(.*?)(?=\b(?:MATCH|WITH|RETURN|REMOVE|CALL)\b|\Z)", re.DOTALL)
GUARD = re.compile(r"NOT \w+:ArchivedEpisode|\w+:(?:Live|Dormant)Episode")


def sets_derived(query: Query) -> bool:
    written = {name for part in SET.findall(query.text) for name in WRITES.findall(part)}
    return bool(written & DERIVED) or (":SIMILAR]" in query.text and "MERGE" in query.text)


WRITERS = {
    name: query for name, query in load_queries(cypher_root()).items() if sets_derived(query)
}


def test_the_writers_are_found() -> None:
    assert {
        "consolidation.save_associations",
        "consolidation.save_priors",
        "consolidation.save_progress",
        "learning.save_histories",
        "learning.save_judgements",
        "learning.save_links",
    } <= set(WRITERS)


@for_each(WRITERS)
def test_a_writer_leaves_stubs_alone(query: Query) -> None:
    assert GUARD.search(query.text), "it may write on the stub of an archived episode"


COMPARED = re.compile(r"1 - vector_distance\(.*?COSINE\s+\)(?:\s+END)? AS (\w+)\n", re.DOTALL)
SEARCHED = re.compile(r"2 \* found - 1 AS \w+")


def test_what_lost_its_vector_meanwhile_is_left_out() -> None:
    """The index may still name an episode that was archived a moment ago."""
    queries = load_queries(cypher_root())
    searched = {name for name, query in queries.items() if SEARCHED.search(query.text)}
    assert len(searched) >= 6
    for name in searched:
        assert "embedding IS NOT NULL" in queries[name].text, name
    compared = {
        name: found[1] for name, query in queries.items()
        if (found := COMPARED.search(query.text)) and "embedding IS NULL THEN" not in query.text
    }  # fmt: skip
    assert len(compared) >= 5
    for name, score in compared.items():  # the score of a missing vector is null
        assert re.search(rf"\b{score} (?:IS NOT NULL|>=)", queries[name].text), name
