"""The chat adapter against a real server on this machine."""

import gzip
import json
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from ecphoria.errors import Misconfigured
from ecphoria.models.openai import OpenAIChat
from ecphoria.ports import NoAnswer, Reply, TextRefused
from tests.chat_endpoint import ChatEndpoint, chat_endpoint

SAID = "So it was."


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
        text="So it was.", tokens=77, written=7
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


MESSAGES: list[tuple[dict[str, object], str]] = [
    ({"content": None}, ""),
    ({"content": None, "refusal": "no"}, ""),
    ({"content": ""}, ""),
    ({}, ""),
    ({"content": [{"type": "text", "text": "So it "}, {"type": "text", "text": "was."}]}, SAID),
    ({"content": ["So it ", {"type": "image"}, "was."]}, SAID),
    ({"content": None, "tool_calls": [{"function": {"arguments": SAID}}]}, SAID),
    ({"content": "", "tool_calls": [{"function": {"name": "f", "arguments": SAID}}]}, SAID),
    ({"tool_calls": [{"function": {"arguments": {"a": 1}}}]}, '{"a": 1}'),
    ({"content": None, "function_call": {"arguments": SAID}}, SAID),
    ({"content": SAID, "tool_calls": "odd", "function_call": 3}, SAID),
    ({"content": 7}, ""),
]
USAGES: list[tuple[object, int]] = [
    (None, 0),
    ({}, 0),
    ({"prompt_tokens": None, "completion_tokens": None}, 0),
    ({"prompt_tokens": -5, "completion_tokens": 7}, 7),
    ({"prompt_tokens": 3.0, "completion_tokens": "many"}, 3),
    ({"prompt_tokens": 10**30, "completion_tokens": -(10**30)}, 100_000_000),
    ([1, 2], 0),
    ("70", 0),
]


@pytest.mark.parametrize(("message", "text"), MESSAGES)
@pytest.mark.parametrize("finish", ["stop", "length", None, 5])
async def test_a_message_is_read_in_every_form(
    chat: OpenAIChat, endpoint: ChatEndpoint, message: dict[str, object], text: str, finish: object
) -> None:
    choice = {"message": message, "finish_reason": finish}
    endpoint.body = json.dumps({"choices": [choice]}).encode()
    assert await chat.ask("session", "i", "t") == Reply(
        text=text, tokens=0, is_cut=finish == "length"
    )


@pytest.mark.parametrize(("usage", "tokens"), USAGES)
async def test_odd_counts_count_nothing_and_void_nothing(
    chat: OpenAIChat, endpoint: ChatEndpoint, counted: list[tuple[str, str, int]],
    usage: object, tokens: int,
) -> None:  # fmt: skip
    body = {"choices": [{"message": {"content": SAID}}], "usage": usage}
    endpoint.body = json.dumps(body).encode()
    reply = await chat.ask("session", "i", "t")
    assert (reply.text, reply.tokens) == (SAID, tokens)
    assert [each[-1] for each in counted] == [tokens - reply.written, reply.written]
    assert all(each[-1] >= 0 for each in counted)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("retries", [0, 3])
async def test_an_answer_has_a_time_in_all(
    endpoint: ChatEndpoint, streams: bool, retries: int
) -> None:
    endpoint.says, endpoint.pauses, endpoint.drips = lambda _: SAID * 100, 0.05, True
    slow = OpenAIChat("m", base_url=endpoint.url, retries=retries, timeout=0.4)
    begun = time.monotonic()
    with pytest.raises(NoAnswer, match="ECPHORIA_LLM__TIMEOUT_S"):
        await slow.ask("ask", "i", "t", heard=(lambda _: None) if streams else None)
    assert time.monotonic() - begun < 3
    await slow.close()


@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_has_a_longest_length(endpoint: ChatEndpoint, streams: bool) -> None:
    endpoint.says = lambda _: "x" * 5_000_000
    endpoint.piece = 100_000
    chat = OpenAIChat("m", base_url=endpoint.url, retries=0, timeout=60)
    with pytest.raises(NoAnswer):
        await chat.ask("ask", "i", "t", heard=(lambda _: None) if streams else None)
    await chat.close()


async def test_a_compressed_answer_is_not_unpacked(endpoint: ChatEndpoint) -> None:
    endpoint.body = gzip.compress(b" " * 200_000_000)
    endpoint.headers = {"content-encoding": "gzip"}
    chat = OpenAIChat("m", base_url=endpoint.url, retries=0, timeout=60)
    with pytest.raises(NoAnswer, match="cannot be used: the answer is compressed"):
        await chat.ask("ask", "i", "t")
    await chat.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_told_and_not_followed(
    chat: OpenAIChat, endpoint: ChatEndpoint, status: int
) -> None:
    endpoint.statuses = [status]
    endpoint.headers = {"location": endpoint.url + "/chat/completions"}
    with pytest.raises(NoAnswer, match=rf"redirects .*{status}.*ECPHORIA_LLM__BASE_URL"):
        await chat.ask("session", "i", "PRIVATE")
    assert len(endpoint.requests) == 1


async def test_a_stream_is_closed_when_enough_was_heard(
    chat: OpenAIChat, endpoint: ChatEndpoint
) -> None:
    endpoint.says = lambda _: SAID * 1_000
    heard: list[str] = []

    def hear(piece: str) -> bool:
        heard.append(piece)
        return len(heard) == 3

    reply = await chat.ask("ask", "i", "t", heard=hear)
    assert (reply.is_enough, reply.text, len(heard)) == (True, "".join(heard), 3)


PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (*PROXIES, "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("name", PROXIES)
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "socks5h://h:1", "odd://h:1"])
async def test_an_endpoint_on_this_machine_is_reached_past_any_proxy(
    endpoint: ChatEndpoint, no_proxies: pytest.MonkeyPatch, name: str, proxy: str
) -> None:
    no_proxies.setenv(name, proxy)
    chat = OpenAIChat("m", base_url=endpoint.url, retries=0, timeout=5)
    assert (await chat.ask("session", "i", "t")).text == SAID
    await chat.close()
    for host in ("localhost", "[::1]", "127.8.9.1", "a.localhost"):
        await OpenAIChat("m", base_url=f"http://{host}:9/v1").close()


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_that_cannot_be_used_is_named(no_proxies: pytest.MonkeyPatch, name: str) -> None:
    no_proxies.setenv(name, "odd://h:1")
    with pytest.raises(Misconfigured, match=name):
        OpenAIChat("m", base_url="https://models.example/v1")


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
    assert reply == Reply(text="So it was.", tokens=77, written=7)
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


async def test_a_stream_without_text_says_nothing(
    chat: OpenAIChat, endpoint: ChatEndpoint
) -> None:
    endpoint.says = lambda _: None
    assert (await chat.ask("ask", "i", "t", heard=lambda _: None)).text == ""
    endpoint.finish = "length"
    assert (await chat.ask("ask", "i", "t", heard=lambda _: None)).is_cut
