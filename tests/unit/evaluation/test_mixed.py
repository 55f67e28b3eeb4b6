"""Several data sets in one store."""

import json
from pathlib import Path

from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.datasets.mixed import load_mixed

CHAT = {
    "sample_id": "chat-1",
    "conversation": {
        "speaker_a": "user",
        "speaker_b": "assistant",
        "session_1_date_time": "9:00 am on 05 April, 2024",
        "session_1": [
            {"speaker": "user", "dia_id": "D1:0", "text": "I keep bees behind the mill."},
            {"speaker": "assistant", "dia_id": "D1:1", "text": "Put the hives in the shade."},
        ],
    },
    "qa": [{"question": "Where are my bees?", "category": 4, "evidence": ["D1:0"]}],
}
CHUNKS = [
    {"id": one, "title": f"Mill {one}", "chunk": f"A mill of {one} wheels."} for one in (1, 2)
]
POOL = {"id": "1", "question": "Where?", "chunks": CHUNKS, "supporting_facts": CHUNKS}


def test_the_sets_share_one_store_and_keep_their_names(tmp_path: Path) -> None:
    chat, pool = tmp_path / "chat.json", tmp_path / "pool.jsonl"
    chat.write_text(json.dumps([CHAT]), encoding="utf-8")
    pool.write_text(json.dumps(POOL), encoding="utf-8")
    found = load_mixed([chat, pool])
    (part,) = found.collections
    assert (found.suite, len(part.memories)) == (Suite.LOCOMO, 4)
    assert {one.kind for one in part.questions} == {"chat", "pool"}
    assert all(set(one.gold) <= part.memories.keys() for one in part.questions)
    sessions = {one.session for one in part.memories.values() if one.session}
    assert len(sessions) == 1
    assert all(session.startswith("chat/chat-1/") for session in sessions)


def test_only_questions_about_the_first_memories_are_kept(tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    pool.write_text(json.dumps(POOL), encoding="utf-8")
    (part,) = load_mixed([pool], memories=1).collections
    assert (len(part.memories), part.questions) == (1, ())
