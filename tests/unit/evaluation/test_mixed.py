"""Several data sets in one store."""

from pathlib import Path

from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.datasets.mixed import load_mixed
from tests.unit.evaluation.chats import CHAT, saved

CHUNKS = [
    {"id": one, "title": f"Mill {one}", "chunk": f"A mill of {one} wheels."} for one in (1, 2)
]
POOL = {"id": "1", "question": "Where?", "chunks": CHUNKS, "supporting_facts": CHUNKS}


def test_the_sets_share_one_store_and_keep_their_names(tmp_path: Path) -> None:
    chat, pool = saved(tmp_path, [CHAT]), saved(tmp_path, POOL, "pool.jsonl")
    found = load_mixed([chat, pool])
    (part,) = found.collections
    assert (found.suite, len(part.memories)) == (Suite.LOCOMO, 4)
    assert {one.kind for one in part.questions} == {"chat", "pool"}
    assert all(set(one.gold) <= part.memories.keys() for one in part.questions)
    sessions = {one.session for one in part.memories.values() if one.session}
    assert len(sessions) == 1
    assert all(session.startswith("chat/chat-1/") for session in sessions)


def test_only_questions_about_the_first_memories_are_kept(tmp_path: Path) -> None:
    pool = saved(tmp_path, POOL, "pool.jsonl")
    (part,) = load_mixed([pool], memories=1).collections
    assert (len(part.memories), part.questions) == (1, ())
