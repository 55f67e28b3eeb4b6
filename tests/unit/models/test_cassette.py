"""What an endpoint answered once is answered again without it, and no secret is written."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from ecphoria.errors import Misconfigured
from ecphoria.models.cassette import hash_of
from ecphoria.models.chat import StructuredChat, create_chat
from ecphoria.models.structure import Structure
from ecphoria.ports import NoAnswer, Reply, TextRefused
from ecphoria.settings import LlmSettings
from tests.chat_endpoint import ChatEndpoint, chat_endpoint

SECRET = "sk-SECRET"
NOBODY = "http://127.0.0.1:9/v1"


class Place(Structure):
    name: str


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = lambda text: json.dumps({"name": f"Oslo, says {text}"})
        yield endpoint


@pytest.fixture
def options(endpoint: ChatEndpoint, tmp_path: Path) -> LlmSettings:
    return LlmSettings(
        base_url=endpoint.url, api_key=SecretStr(SECRET), timeout_s=2, retries=0,
        record=tmp_path / "talk.jsonl",
    )  # fmt: skip


@pytest.fixture
def replayed(options: LlmSettings) -> LlmSettings:
    return LlmSettings(base_url=NOBODY, timeout_s=2, retries=0, replay=options.record)


def file_of(options: LlmSettings) -> Path:
    path = options.record or options.replay
    assert path is not None
    return path


async def said(options: LlmSettings, *texts: str, model: str = "m") -> list[Reply]:
    chat = create_chat(model, options, lambda *_: None)
    try:
        return [await chat.ask("ask", "Be short.", text) for text in texts]
    finally:
        await chat.close()


async def test_what_was_recorded_is_replayed_without_the_endpoint(
    options: LlmSettings, replayed: LlmSettings, endpoint: ChatEndpoint
) -> None:
    recorded = await said(options, "one", "two")
    assert [reply.tokens for reply in recorded] == [77, 77]
    hurried = replayed.model_copy(update={"calls_a_minute": 1, "tokens_a_day": 1})
    assert await said(hurried, "two", "one", "two") == [*recorded[::-1], recorded[1]]
    assert len(endpoint.requests) == 2
    first = json.loads(file_of(options).read_text().splitlines()[0])
    assert first["request"] == hash_of(endpoint.requests[0])
    assert (first["model"], first["status"]) == ("m", 200)


async def test_a_recording_goes_on_where_it_ended(
    options: LlmSettings, endpoint: ChatEndpoint
) -> None:
    before = await said(options, "one")
    with file_of(options).open("a") as file:
        file.write('{"request": "of a process that was ki')
    assert await said(options, "one", "two") == [*before, *await said(options, "two")]
    assert len(endpoint.requests) == 2


async def test_only_the_owner_can_read_it_and_it_holds_no_key_and_no_address(
    options: LlmSettings, endpoint: ChatEndpoint
) -> None:
    await said(options, "one")
    assert endpoint.keys == [f"Bearer {SECRET}"]
    text = file_of(options).read_text()
    for private in (SECRET, "Bearer", "uthorization", "127.0.0.1"):
        assert private not in text
    assert file_of(options).stat().st_mode & 0o077 == 0


async def test_a_request_that_is_missing_tells_the_file_and_the_remedy(
    options: LlmSettings, replayed: LlmSettings
) -> None:
    await said(options, "one")
    with pytest.raises(NoAnswer, match=r"talk\.jsonl has no answer .*ECPHORIA_TEST_LLM__RECORD"):
        await said(replayed, "three")
    with pytest.raises(NoAnswer, match="has no answer"):
        await said(replayed, "one", model="other")


async def test_a_streamed_answer_is_heard_again(
    options: LlmSettings, replayed: LlmSettings, endpoint: ChatEndpoint
) -> None:
    heard: list[str] = []
    for each in (options, replayed):
        chat = create_chat("m", each, lambda *_: None)
        reply = await chat.ask("ask", "i", "one", heard=heard.append)
        assert (reply.text, reply.tokens) == (endpoint.says("one"), 77)
        await chat.close()
    half = len(heard) // 2
    assert heard[:half] == heard[half:]
    assert len(endpoint.requests) == 1


async def test_a_stream_that_broke_is_not_recorded(
    options: LlmSettings, endpoint: ChatEndpoint
) -> None:
    endpoint.breaks_after = 1
    chat = create_chat("m", options, lambda *_: None)
    with pytest.raises(NoAnswer):
        await chat.ask("ask", "i", "one", heard=lambda _: None)
    assert file_of(options).read_text() == ""
    endpoint.breaks_after = None
    assert (await chat.ask("ask", "i", "one", heard=lambda _: None)).tokens == 77
    await chat.close()


async def test_the_ladder_of_forms_is_replayed_too(
    options: LlmSettings, replayed: LlmSettings, endpoint: ChatEndpoint
) -> None:
    endpoint.refuses = frozenset({"json_schema"})
    for each in (options, replayed):
        chat = create_chat("m", each, lambda *_: None)
        answer = await StructuredChat(chat).ask("ask", "i", "one", Place)
        assert answer.value.name == "Oslo, says one"
        await chat.close()
    assert len(endpoint.requests) == 2
    assert "no such form" not in file_of(options).read_text()


@pytest.mark.parametrize("status", [401, 429, 500, 503])
async def test_a_failure_that_may_pass_is_not_recorded(
    options: LlmSettings, replayed: LlmSettings, endpoint: ChatEndpoint, status: int
) -> None:
    endpoint.statuses = [status]
    with pytest.raises(NoAnswer, match=str(status)):
        await said(options, "one")
    assert (await said(options, "one"))[0].tokens == 77
    assert (await said(replayed, "one"))[0].tokens == 77


async def test_what_is_no_answer_is_not_recorded(
    options: LlmSettings, endpoint: ChatEndpoint
) -> None:
    endpoint.body = b"<html>sign in</html>"
    with pytest.raises(NoAnswer, match="something else than text"):
        await said(options, "one")
    assert file_of(options).read_text() == ""


async def test_a_refused_text_stays_refused(
    options: LlmSettings, replayed: LlmSettings, endpoint: ChatEndpoint
) -> None:
    endpoint.statuses = [422]
    for each in (options, replayed):
        with pytest.raises(TextRefused, match="422"):
            await said(each, "one")
    assert "PRIVATE" not in file_of(options).read_text()


async def test_a_file_that_cannot_be_used_is_told_at_once(
    options: LlmSettings, replayed: LlmSettings, tmp_path: Path
) -> None:
    with pytest.raises(Misconfigured, match=r"REPLAY: talk\.jsonl cannot be opened"):
        create_chat("m", replayed, lambda *_: None)
    with pytest.raises(Misconfigured, match="RECORD: x cannot be opened"):
        create_chat(
            "m", options.model_copy(update={"record": tmp_path / "no" / "x"}), lambda *_: None
        )
    with pytest.raises(Misconfigured, match="both set"):
        create_chat("m", options.model_copy(update={"replay": options.record}), lambda *_: None)
    file_of(options).write_text('{"request": "a"}\n')
    with pytest.raises(Misconfigured, match=r"line 1 of talk\.jsonl"):
        create_chat("m", options, lambda *_: None)
