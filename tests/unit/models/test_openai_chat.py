"""The chat adapter against a real server on this machine."""

from collections.abc import AsyncIterator, Iterator

import pytest

from ecphoria.models.openai import OpenAIChat
from ecphoria.ports import NoAnswer, Reply, TextRefused
from tests.chat_endpoint import ChatEndpoint, chat_endpoint


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = lambda _: "So it was."
        yield endpoint


@pytest.fixture
def counted() -> list[tuple[str, str, int]]:
    return []


@pytest.fixture
async def chat(
    endpoint: ChatEndpoint, counted: list[tuple[str, str, int]]
) -> AsyncIterator[OpenAIChat]:
    made = OpenAIChat(
        "small", base_url=endpoint.url, api_key="k", timeout=2, retries=1,
        counted=lambda *told: counted.append(told),
    )  # fmt: skip
    yield made
    await made.close()


async def test_it_asks_and_counts(
    chat: OpenAIChat, endpoint: ChatEndpoint, counted: list[tuple[str, str, int]]
) -> None:
    assert await chat.ask("session", "Be short.", "[1] Hello") == Reply(
        text="So it was.", tokens=77
    )
    assert chat.model == "small"
    assert endpoint.requests == [
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "[1] Hello"},
            ],
        }
    ]
    assert endpoint.keys == ["Bearer k"]
    assert counted == [("session", "read", 70), ("session", "written", 7)]


async def test_an_endpoint_need_not_count(chat: OpenAIChat, endpoint: ChatEndpoint) -> None:
    endpoint.counts = False
    assert (await chat.ask("session", "i", "t")).tokens == 0


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_failure_that_passes_is_retried(
    chat: OpenAIChat, endpoint: ChatEndpoint, status: int
) -> None:
    endpoint.statuses = [status]
    assert (await chat.ask("session", "i", "t")).text == "So it was."
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("status", "raised"), [(400, TextRefused), (413, TextRefused), (422, TextRefused),
                           (401, NoAnswer), (404, NoAnswer), (500, NoAnswer)]
)  # fmt: skip
async def test_a_refusal_is_told_and_quotes_nothing(
    chat: OpenAIChat, endpoint: ChatEndpoint, status: int, raised: type[Exception]
) -> None:
    endpoint.statuses = [status, status]
    with pytest.raises(raised, match=str(status)) as caught:
        await chat.ask("session", "i", "PRIVATE")
    assert "PRIVATE" not in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"choices": []}'])
async def test_something_else_than_an_answer_is_none(
    chat: OpenAIChat, endpoint: ChatEndpoint, body: bytes
) -> None:
    endpoint.body = body
    with pytest.raises(NoAnswer, match="something else than text"):
        await chat.ask("session", "i", "t")


async def test_an_answer_without_text_is_none(chat: OpenAIChat, endpoint: ChatEndpoint) -> None:
    endpoint.says = lambda _: None
    with pytest.raises(NoAnswer, match="something else than text"):
        await chat.ask("session", "i", "t")


async def test_nobody_there_is_no_answer() -> None:
    nobody = OpenAIChat("m", base_url="http://127.0.0.1:9/v1", retries=0, timeout=2)
    with pytest.raises(NoAnswer, match="check its address"):
        await nobody.ask("session", "i", "t")
    await nobody.close()


async def test_who_is_too_slow_gives_no_answer(endpoint: ChatEndpoint) -> None:
    endpoint.delay = 0.5
    hasty = OpenAIChat("m", base_url=endpoint.url, retries=0, timeout=0.1)
    with pytest.raises(NoAnswer):
        await hasty.ask("session", "i", "t")
    await hasty.close()


async def test_pieces_are_heard_as_they_come(
    chat: OpenAIChat, endpoint: ChatEndpoint, counted: list[tuple[str, str, int]]
) -> None:
    heard: list[str] = []
    reply = await chat.ask("ask", "i", "t", heard=heard.append)
    assert reply == Reply(text="So it was.", tokens=77)
    assert heard == ["So it w", "as."]
    assert counted == [("ask", "read", 70), ("ask", "written", 7)]
    endpoint.finish = "length"
    assert (await chat.ask("ask", "i", "t", heard=heard.append)).is_cut


async def test_an_endpoint_that_does_not_stream_is_asked_for_the_whole(
    chat: OpenAIChat, endpoint: ChatEndpoint
) -> None:
    endpoint.streams = False
    heard: list[str] = []
    for _ in range(2):
        assert (await chat.ask("ask", "i", "t", heard=heard.append)).text == "So it was."
    assert heard == ["So it was."] * 2
    assert [bool(asked.get("stream")) for asked in endpoint.requests] == [True, False, False]


async def test_a_text_that_is_refused_does_not_end_the_streaming(
    chat: OpenAIChat, endpoint: ChatEndpoint
) -> None:
    endpoint.statuses = [400, 400]
    heard: list[str] = []
    with pytest.raises(TextRefused):
        await chat.ask("ask", "i", "t", heard=heard.append)
    assert (await chat.ask("ask", "i", "t", heard=heard.append)).text == "So it was."
    assert heard == ["So it w", "as."]


@pytest.mark.parametrize("broken", [0, 1])
async def test_a_stream_that_breaks_is_no_answer(
    chat: OpenAIChat, endpoint: ChatEndpoint, broken: int
) -> None:
    endpoint.breaks_after = broken
    with pytest.raises(NoAnswer) as told:
        await chat.ask("ask", "i", "t", heard=lambda _: None)
    assert "So it" not in str(told.value)


async def test_a_stream_without_text_is_no_answer(
    chat: OpenAIChat, endpoint: ChatEndpoint
) -> None:
    endpoint.says = lambda _: None
    with pytest.raises(NoAnswer):
        await chat.ask("ask", "i", "t", heard=lambda _: None)
