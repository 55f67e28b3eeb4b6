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


SCORED = re.compile(r"1 - vector_distance\(.*?COSINE\s+\)(?:\s+END)? AS (\w+)\n", re.DOTALL)


def test_a_search_leaves_out_what_lost_its_vector_meanwhile() -> None:
    """The index may still name an episode that was archived a moment ago: its score is null."""
    found = {
        name: (scored[1], query.text)
        for name, query in load_queries(cypher_root()).items()
        if (scored := SCORED.search(query.text))
    }
    assert len(found) >= 9
    for name, (score, text) in found.items():
        if "embedding IS NULL THEN" in text:
            continue  # what has no vector gets a score there
        assert re.search(rf"\b{score} (?:IS NOT NULL|>=)", text), name
