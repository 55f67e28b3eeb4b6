"""Answers of a service, as JSON."""

TRACE = "b" * 32


def episode(ident: str, text: str, speaker: str = "Mara") -> dict[str, object]:
    return {
        "id": ident * 32,
        "turn": 1,
        "text": text,
        "speaker": speaker,
        "occurred_at": "2025-09-05T18:00:00Z",
        "recorded_at": "2025-09-05T18:00:01Z",
        "importance": 0.5,
        "kind": "episodic",
        "state": "live",
    }


def step(ident: str, edge: str, energy: float, **rest: str) -> dict[str, object]:
    return {
        "node": ident * 32,
        "kind": "episode",
        "edge": edge,
        "label": "",
        "energy": energy,
    } | rest


def answer(**members: object) -> dict[str, object]:
    return {
        "hits": [
            {
                "rank": 1,
                "score": 0.75,
                "parts": {"lex": 0.5, "sem": 0.25, "date": 0.0},
                "path": [step("c", "text", 2.5), step("a", "NEXT", 0.7)],
                "episode": episode("a", "A red ring [bold]around[/bold] the bite.\nAnd a fever."),
            }
        ],
        "strategy": "fusion",
        "verdict": "answer",
        "answerable": True,
        "confidence": 0.86,
        "judged_by": {"gate": "shipped", "threshold": 0.25, "verify_below": 0.4},
        "reasons": [],
        "misses": [],
        "context": "",
        "context_tokens": 0,
        "timings_ms": {"seeds": 12.0, "rank": 3.0, "total": 16.0},
        "trace_id": TRACE,
        "degraded": [],
    } | members
