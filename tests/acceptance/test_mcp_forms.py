"""A client may show a model only the text of an answer, or only its data: each is enough alone."""

import json
import os
import random
from collections.abc import Iterator

import pytest

from ecphoria.settings import LlmSettings
from tests.acceptance.agents import OVER_HTTP, STDIO, WAYS, Form, data_of, seen, speaking, words_of
from tests.acceptance.conftest import Owner, RunningService, new_owner, running, settings_for
from tests.chat_endpoint import ChatEndpoint, chat_endpoint, fenced
from tests.conftest import Server

SEED = int(os.environ.get("ECPHORIA_TEST_SEED", "7"))  # noqa: TID251
FORMS: tuple[Form, ...] = ("text", "data")
PIECES = (
    "the ferry to Aldmoor costs 12,345,678.90 crowns",
    "serial 98765432109876543210",
    "灯台守の部屋は三階にあります。",
    "the parade 🎏🎐 was loud 👩\u200d👩\u200d👧",
    "see https://example.org/a?b=1&c=%20d#e",
    'he said "no, thanks" — twice',
    "```python\ndef add(a: int, b: int) -> int:\n    return a + b\n```",
    "C++ and C# are not C",
    "Zoë met İpek in Łódź",
    "<memories 1> is no mark",
    "[9] is no number",
    "temperature -4.5 °C; 10 000 000 steps",
    '{"key": [1, 2.50]}',
    "tabs\tand\r\nlines",
)
SPEAKERS = ("Ana", "Bo O'Neil", "佐藤", None)


@pytest.fixture(scope="module")
def model() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def service(
    neo4j_server: Server, model: ChatEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    llm = LlmSettings(model="scripted", base_url=model.url, timeout_s=20, retries=0)
    home = tmp_path_factory.mktemp("home")
    with running(settings_for(neo4j_server, home, llm=llm)) as found:
        yield found


@pytest.fixture
def teller(service: RunningService) -> Iterator[Owner]:
    with service.operator() as operator, new_owner(operator) as owner:
        yield owner


def bare(text: str) -> str:
    return "".join(text.split())


def stored(owner: Owner, count: int) -> list[dict[str, str]]:
    """Store memories that the seed chooses, each with a word of its own."""
    chance = random.Random(SEED)  # noqa: S311 (it chooses samples)
    told = []
    for number in range(count):
        text = f"Note quay{number:03}: " + "; ".join(chance.sample(PIECES, 3))
        speaker = chance.choice(SPEAKERS)
        day = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        given = {"text": text, "session": "log", "occurred_at": f"{day}T09:30:00Z"}
        if speaker is not None:
            given["speaker"] = speaker
        told.append(given | {"id": owner.remember(**given), "day": day})
    return told


def assert_told(answer: str, memory: dict[str, str]) -> None:
    assert memory["id"] in answer
    assert memory["day"] in answer
    assert bare(memory["text"]) in answer
    assert bare(memory.get("speaker", "")) in answer


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("form", FORMS)
async def test_every_memory_can_be_read_in_each_form_alone(
    teller: Owner, form: Form, how: str
) -> None:
    told = stored(teller, 9)
    async with speaking(teller, how) as agent:
        listed = ""
        asked: dict[str, str] | None = {"session": "log"}
        while asked is not None:
            page = await agent.call_tool("timeline", asked)
            listed += seen(page, form)
            cursor = data_of(page).get("next_cursor")
            asked = {"session": "log", "cursor": cursor} if cursor else None
        for memory in told:
            assert_told(listed, memory)
        for number in (0, 5):
            read = await agent.call_tool("get", {"ids": [told[number]["id"]], "around": 1})
            assert_told(seen(read, form), told[number])
            assert_told(seen(read, form), told[number + 1])
            cue = {"query": f"What is in note quay{number:03}?", "token_budget": 2_500}
            found = await agent.call_tool("recall", cue)
            if data_of(found)["verdict"] != "refuse":
                assert_told(seen(found, form), told[number])
            why = await agent.call_tool("why", {"trace_id": data_of(found)["trace_id"]})
            assert told[number]["id"] in seen(why, form)
            assert "score" in seen(why, form)
        doomed = await agent.call_tool("forget", {"ids": [told[2]["id"]]})
        assert_told(seen(doomed, form), told[2])
        assert len(teller.texts()) == len(told), "without `dry_run` nothing is erased"
        doomed = await agent.call_tool("forget", {"session": "log"})
        assert told[0]["id"] in seen(doomed, form)
        assert len(teller.texts()) == len(told), "without `dry_run` nothing is erased"


@pytest.mark.parametrize("form", FORMS)
async def test_storing_tells_ids(teller: Owner, form: Form) -> None:
    async with speaking(teller, OVER_HTTP) as agent:
        kept = await agent.call_tool("remember", {
            "text": "I prefer tea.", "speaker": "", "kind": "semantic", "importance": 0.9,
        })  # fmt: skip
        turns = [{"text": "How much?", "role": "assistant", "speaker": ""}, {"text": "Two cups."}]
        both = await agent.call_tool("remember_turns", {"session": "tea", "turns": turns})
        items = teller.get("/v1/episodes").json()["items"]
        assert [one.get("role") for one in items] == ["user", "assistant", None]
        assert (items[0]["kind"], items[0]["importance"]) == ("semantic", 0.9)
        for item, answer in zip(items, (kept, both, both), strict=True):
            assert item["id"] in seen(answer, form)


@pytest.mark.parametrize("form", FORMS)
async def test_a_refusal_shows_the_nearest_memories_and_says_that_they_are_no_answer(
    teller: Owner, form: Form
) -> None:
    one = teller.remember("The boat Marlin is moored in Oslo.", speaker="Bo")
    async with speaking(teller, STDIO) as agent:
        answer = await agent.call_tool("recall", {"query": "How many llamas does the bishop own?"})
        assert data_of(answer)["verdict"] == "refuse"
        assert data_of(answer)["hits"] == []
        shown = seen(answer, form)
        assert bare("The memory does not hold the answer") in shown
        assert bare("The boat Marlin is moored in Oslo.") in shown
        assert one in shown
        assert "Bo" in shown
        assert ("misses" if form == "data" else bare("nearest memories, which do not")) in shown
        if form == "text":
            assert bare("llamas; no memory has the word bishop") in shown


@pytest.mark.parametrize("form", FORMS)
async def test_facts_and_corrections_are_told(teller: Owner, form: Form) -> None:
    fact = {"subject": "Ana", "predicate": "lives in", "object": "Porto"}
    one = teller.remember(
        "Ana lives in Porto.",
        occurred_at="2026-03-14T09:30:00Z",
        extraction={"names": ["Ana"], "facts": [fact]},
    )
    async with speaking(teller, OVER_HTTP) as agent:
        answer = await agent.call_tool("facts", {"about": "Ana"})
        (known,) = data_of(answer)["facts"]
        for part in ("ana lives in porto", "2026-03-14", "held", known["id"], one):
            assert bare(part) in seen(answer, form)
        ruling = {"fact": known["id"], "ruling": "retract", "why": "It was a joke."}
        answer = await agent.call_tool("correct", ruling)
        for part in ("retracted", "ana lives in porto", known["id"], data_of(answer)["decision"]):
            assert bare(part) in seen(answer, form)


@pytest.mark.parametrize("form", FORMS)
async def test_an_answer_in_words_has_its_quotes_and_memories(
    teller: Owner, model: ChatEndpoint, form: Form
) -> None:
    one = teller.remember(
        "I moved to Oslo in May.", speaker="Ana", occurred_at="2026-05-02T10:00:00Z"
    )

    def says(text: str) -> str:
        (number,) = [place for place, line in fenced(text).items() if "Oslo" in line]
        cited = [{"memory": number, "quote": "moved to Oslo"}]
        return json.dumps({"sentences": [{"text": "Ana moved to Oslo.", "citations": cited}]})

    model.says = says
    async with speaking(teller, OVER_HTTP) as agent:
        answer = await agent.call_tool("ask", {"cue": "Where did Ana move in May?"})
        shown = seen(answer, form)
        for part in ("Ana moved to Oslo.", "I moved to Oslo in May.", one, "2026-05-02", "Ana"):
            assert bare(part) in shown
        answer = await agent.call_tool("ask", {"question": "How many llamas has the bishop?"})
        assert not data_of(answer)["answered"]
        assert one in seen(answer, form)


@pytest.mark.parametrize("form", FORMS)
async def test_search_and_fetch_are_told_too(teller: Owner, form: Form) -> None:
    told = stored(teller, 3)
    async with speaking(teller, STDIO, "--profile", "openai") as agent:
        found = await agent.call_tool("search", {"query": "What is in note quay001?"})
        read = await agent.call_tool("fetch", {"id": told[1]["id"]})
        assert json.loads(words_of(read)) == data_of(read)
        assert told[1]["id"] in seen(found, form)
        assert "2026-" in seen(found, form)
        for part in (told[1]["id"], told[1]["day"]):
            assert part in seen(read, form)
        assert data_of(read)["text"] == told[1]["text"]


async def test_a_long_memory_is_cut_between_words_and_read_on(teller: Owner) -> None:
    long = "The mast is 1,234,567 mm high and the sail is white. " * 400
    one = teller.remember(long, speaker="Ana")
    async with speaking(teller, OVER_HTTP) as agent:
        for tool, given in (("timeline", {}), ("recall", {"query": "How high is the mast?"})):
            data = data_of(await agent.call_tool(tool, given))
            shown = next(
                data[name][0] for name in ("memories", "hits", "misses") if data.get(name)
            )
            assert shown["truncated"]
            assert len(shown["text"]) >= 400
            assert shown["text"].rstrip()[-1] in ".e", "the end of a sentence or of a word"
        whole = ""
        offset: int | None = 0
        while offset is not None:
            page = await agent.call_tool("get", {"ids": [one], "offset": offset})
            (part,) = data_of(page)["memories"]
            assert part["text"] in words_of(page)
            whole += part["text"]
            offset = part.get("next_offset")
        assert whole == long
