"""A chat with an assistant as a data set, and how to save one."""

import json
from pathlib import Path
from typing import Any

CHAT: dict[str, Any] = {
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
    "qa": [
        {"question": "Where are my bees?", "category": 4, "evidence": ["D1:0"], "kind": "fact"},
        {"question": "Where is my goat?", "category": 5, "evidence": [], "kind": "abstention"},
    ],
}


def saved(folder: Path, content: object, name: str = "chat.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(content), encoding="utf-8")
    return file
