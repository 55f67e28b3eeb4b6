"""Conversations that are asked for a gate."""

from ecphoria_eval.calibrating import ask_memories
from ecphoria_eval.datasets.locomo import load_mini
from tests.unit.evaluation.doubles import TinyService


async def test_conversations_are_remembered_asked_and_erased() -> None:
    dataset = load_mini()[0]
    service = TinyService()
    samples, _ = await ask_memories(
        dataset, service.connect, lambda *_: None, name="try", monotonic=lambda: 0.0
    )
    wanted = [one for one in dataset.questions if one.scored or one.adversarial]
    assert [one.answerable for one in samples] == [one.scored for one in wanted]
    assert {one.group for one in samples} == {"sample"}
    assert service.tenants == {}
    assert service.recorded == []
