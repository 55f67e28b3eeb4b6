"""What the demo draws: the best hits, and those that hold the answer."""

from pydantic import TypeAdapter
from rich.console import Console

from ecphoria.cli.render import draw_hits, path_nodes
from ecphoria.cli.serve import _ranks_of_evidence
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


def drawn(also: list[int]) -> list[str]:
    console: Console = stdout()
    with console.capture() as capture:
        console.print(draw_hits(answer(10), limit=3, explain=False, episodes={}, also=also))
    return [line.split()[0] for line in capture.get().splitlines()]


def test_memories_that_hold_the_answer_are_shown_whatever_their_rank() -> None:
    asked = SampleQuestion(
        question="?", why="", evidence=frozenset({"Memory 1.", "Memory 9.", "Elsewhere."})
    )
    ranks = _ranks_of_evidence(asked, answer(10))
    assert ranks == [1, 9]
    assert drawn(ranks) == ["1", "2", "3", "9"]
    assert path_nodes(answer(10), 3, ranks) == {"p1", "p2", "p3", "p9"}


def test_without_them_the_best_are_shown() -> None:
    assert drawn([]) == ["1", "2", "3"]
    assert path_nodes(answer(10), 3) == {"p1", "p2", "p3"}
