"""The answer of a language model beside the hits, with its quotes."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.async_api import Route

from ecphoria.settings import LlmSettings
from tests.acceptance.conftest import (
    NO_TLS,
    Owner,
    RunningService,
    new_owner,
    running,
    settings_for,
)
from tests.chat_endpoint import ChatEndpoint, chat_endpoint, obliging
from tests.conftest import Server
from tests.explorer.conftest import HUSBAND, OpenTab

OTTERS = "Who feeds the otters at noon?"
SAID = "Mara Holm feeds the 🦦 otters at noon."


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = obliging
        yield endpoint


@pytest.fixture
def speaking(
    neo4j_server: Server, model: ChatEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with a language model."""
    llm = LlmSettings(model="oracle", base_url=model.url, retries=0)
    with running(settings_for(neo4j_server, tmp_path_factory.mktemp("home"), llm=llm)) as made:
        yield made


@pytest.fixture
def keeper(speaking: RunningService) -> Iterator[Owner]:
    """The owner of a tenant of it."""
    headers = {"Authorization": f"Bearer {speaking.key}"}
    with (
        httpx.Client(
            base_url=speaking.url, headers=headers, timeout=120, verify=NO_TLS
        ) as operator,
        new_owner(operator) as made,
    ):
        yield made


async def test_each_sentence_shows_its_quote_and_leads_to_its_hit(
    open_tab: OpenTab, speaking: RunningService, keeper: Owner, model: ChatEndpoint
) -> None:
    keeper.remember(SAID, speaker="Davor", session="pier")
    tab = await open_tab(keeper.key, url=speaking.url)
    await tab.ask(OTTERS, tab="answer")
    assert not model.requests  # a link spends no tokens
    await tab.page.click("#panel button")
    await tab.page.wait_for_selector("mark.quote")
    assert await tab.texts(".answer-text > p > bdi") == [f"{SAID}."]
    assert await tab.texts("mark.quote") == [" ".join(SAID.split()[:4])]
    assert SAID in "".join(await tab.texts("blockquote"))
    await tab.page.wait_for_selector("text=oracle, 77 tokens")
    await tab.page.click("blockquote button")
    await tab.page.wait_for_selector("#hit-1.chosen")
    assert keeper.get("/v1/stats").json()["traces"] == 0
    assert tab.faults == []


async def test_a_model_that_fails_is_told(
    open_tab: OpenTab, speaking: RunningService, keeper: Owner, model: ChatEndpoint
) -> None:
    keeper.remember(SAID, speaker="Davor", session="pier")
    model.statuses = [500]
    tab = await open_tab(keeper.key, url=speaking.url)
    await tab.ask(OTTERS, tab="answer")
    await tab.page.click("#panel button")
    await tab.page.wait_for_selector("#panel .problem[data-status='503']")
    await tab.page.click("#panel .problem button")
    await tab.page.wait_for_selector("mark.quote")


async def test_an_answer_that_is_cut_off_is_told(
    open_tab: OpenTab, speaking: RunningService, keeper: Owner
) -> None:
    keeper.remember(SAID, speaker="Davor", session="pier")
    tab = await open_tab(keeper.key, url=speaking.url)
    started = 'event: sentence\ndata: {"text": "At noon.", "citations": []}\n\n'

    async def cut_off(route: Route) -> None:
        await route.fulfill(content_type="text/event-stream", body=started)

    async def ended(route: Route) -> None:
        await route.fulfill(status=401, json={"title": "Unauthenticated", "status": 401})

    await tab.page.route("**/v1/ask/stream", cut_off)
    await tab.ask(OTTERS, tab="answer")
    await tab.page.click("#panel button")
    await tab.page.wait_for_selector("#panel .problem[data-status='0']")
    assert await tab.texts(".answer-text > p > bdi") == ["At noon."]
    await tab.page.route("**/v1/ask/stream", ended)
    await tab.page.click("#panel .problem button")
    await tab.page.wait_for_selector("input[name=key]")


async def test_without_a_model_there_is_no_such_tab(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND, tab="answer")
    assert await tab.page.locator("#tab-hits").count() == 1
    assert await tab.page.locator("#tab-answer").count() == 0
