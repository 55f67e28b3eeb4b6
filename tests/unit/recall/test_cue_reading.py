"""A model reads cues within its time; whatever it does, the recall goes on."""

import asyncio
import json

import pytest

from ecphoria.models.chat import StructuredChat
from ecphoria.ports import Chat, NoAnswer, Reply, TextRefused
from ecphoria.recall.cue_reading import MOST_EXPANSIONS, MOST_NAMES, CueReader

GOOD = json.dumps({"names": ["Ana", " Ana ", "the Harbour"], "expansions": ["new flat", ""]})


class Scripted:
    """Answers the same each time, after a while."""

    model = "m"

    def __init__(self, answer: str | Exception, wait_s: float = 0.0) -> None:
        self.answer = answer
        self.wait_s = wait_s
        self.asked: list[str] = []

    async def ask(self, purpose: str, instruction: str, text: str, **_: object) -> Reply:
        assert (purpose, bool(instruction)) == ("cue", True)
        self.asked.append(text)
        await asyncio.sleep(self.wait_s)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(text=self.answer, tokens=5)

    async def close(self) -> None:
        pass


def a_reader(chat: Chat, timeout_s: float = 2.0) -> CueReader:
    return CueReader(StructuredChat(chat), timeout_s)


async def test_names_and_expansions_are_kept_once() -> None:
    chat = Scripted(GOOD)
    reader = a_reader(chat)
    for _ in range(2):
        reading = await reader.read("Where\ndoes Ana live?")
        assert (reading.names, reading.expansions) == (("Ana", "the Harbour"), ("new flat",))
        assert reading.normalised == {"ana", "the harbour"}
    assert chat.asked == ["Question: Where does Ana live?"]


async def test_what_is_too_much_is_left_out() -> None:
    many = [f"n{number}" for number in range(100)]
    said = json.dumps({"names": [*many[:50], "x" * 201], "expansions": ["y" * 201, *many[:50]]})
    reading = await a_reader(Scripted(said)).read("q")
    assert reading.names == tuple(many[:MOST_NAMES])
    assert reading.expansions == tuple(many[:MOST_EXPANSIONS])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (NoAnswer("the endpoint is down"), "the endpoint is down"),
        (TextRefused("x"), "nothing of the wanted form"),
        ("Ana lives in Oslo.", "nothing of the wanted form"),
        ('{"names": "Ana", "expansions": []}', "nothing of the wanted form"),
    ],
)
async def test_a_failure_is_told_and_tried_again_another_time(
    answer: str | Exception, reason: str
) -> None:
    chat = Scripted(answer)
    reader = a_reader(chat)
    reading = await reader.read("q")
    assert (reading.names, reading.expansions) == ((), ())
    assert reading.degraded[0].startswith("the cue was read by rules only: ")
    assert reason in reading.degraded[0]
    chat.answer = GOOD
    assert (await reader.read("q")).degraded == ()


async def test_a_slow_model_is_not_waited_for() -> None:
    reading = await a_reader(Scripted(GOOD, wait_s=5.0), timeout_s=0.05).read("q")
    assert "longer than 0.05 s" in reading.degraded[0]
