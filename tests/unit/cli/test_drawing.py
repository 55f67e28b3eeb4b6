"""What the demo draws: the best hits, and those that hold the answer."""

from pydantic import TypeAdapter
from rich.console import Console

from ecphoria.cli.render import draw_hits, path_nodes
from ecphoria.cli.serve import best_of
from ecphoria.cli.terminal import stdout
from ecphoria.demo.sample import SampleQuestion
from ecphoria.records.recall import RecallResult


def answer(size: int) -> RecallResult:
    hits = [
        {
            "rank": rank,
            "score": 1 / rank,
            "parts": {"lex": 1 / rank},
            "path": [
                {"node": f"p{rank}", "kind": "episode", "edge": "text", "label": "", "energy": 1}
            ],
            "episode": {
                "id": f"e{rank}", "turn": rank, "text": f"Memory {rank}.", "speaker": "Mara",
                "occurred_at": "2025-09-05T18:00:00Z", "recorded_at": "2025-09-05T18:00:00Z",
                "metadata": {}, "importance": 0.5, "kind": "episodic",
                "state": "live",
            },
        }
        for rank in range(1, size + 1)
    ]  # fmt: skip
    return TypeAdapter(RecallResult).validate_python(
        {
            "hits": hits, "strategy": "fusion", "verdict": "answer", "answerable": True,
            "confidence": 0.9,
            "judged_by": {"gate": "shipped", "threshold": 0.25, "verify_below": 0.4},
            "reasons": [], "misses": [], "context": "",
            "context_tokens": 0, "timings_ms": {}, "trace_id": "t", "degraded": [],
        }
    )  # fmt: skip


def drawn(shown: RecallResult) -> list[str]:
    console: Console = stdout()
    with console.capture() as capture:
        console.print(draw_hits(shown, explain=False, episodes={}))
    return [line.split()[0] for line in capture.get().splitlines()]


def test_the_best_and_those_that_hold_the_answer_are_shown() -> None:
    asked = SampleQuestion(
        question="?", why="", evidence=frozenset({"Memory 1.", "Memory 9.", "Elsewhere."})
    )
    shown = best_of(asked, answer(10))
    assert drawn(shown) == ["1", "2", "3", "9"]
    assert path_nodes(shown) == {"p1", "p2", "p3", "p9"}


def test_all_hits_of_an_answer_are_drawn() -> None:
    assert drawn(answer(20)) == [str(rank) for rank in range(1, 21)]
