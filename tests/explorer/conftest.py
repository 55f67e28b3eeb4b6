"""The explorer in a real browser, on a real service with the demo's conversation."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    Request,
    Route,
    async_playwright,
    expect,
)

from ecphoria.client import Client
from ecphoria.demo.sample import sample_conversation, sample_facts, with_facts
from ecphoria.settings import JobsSettings
from scripts.draw_explorer import browser_here
from tests.acceptance.conftest import (
    Owner,
    RunningService,
    new_owner,
    running,
    settings_for,
    with_a_worker,
)
from tests.conftest import Server

HUSBAND = "What is the name of Davor's husband?"
TICK = "Which antibiotics is Tobias taking after his tick bite?"
SLOW_MS = 60_000
"""A machine under load is no failure of the page."""
SLOWER = int(os.environ.get("ECPHORIA_TEST_SLOWER", "1"))  # noqa: TID251
"""How many times slower the browser is; above 1, the answers of the service are late too."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def service(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A running service."""
    with running(settings_for(neo4j_server, tmp_path_factory.mktemp("home"))) as up:
        yield up


@pytest.fixture(scope="session")
def operator(service: RunningService) -> Iterator[httpx.Client]:
    """An operator of it."""
    with service.operator() as client:
        yield client


@pytest.fixture(scope="session")
def demo(operator: httpx.Client) -> Iterator[Owner]:
    """The owner of a tenant with the conversation of the demo; no test changes it."""
    with new_owner(operator) as made:
        turns = sample_conversation()
        with Client(str(operator.base_url), made.key, timeout=120) as client:
            assert client.append_batch(turns).created == len(turns)
        yield made


@pytest.fixture(scope="session")
def working(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with a worker, for all tests here."""
    # It works on what it is asked for, and leaves what other tests queue to their own workers.
    jobs = JobsSettings(workers=1, poll_s=600, schedule_s=3_600)
    yield from with_a_worker(neo4j_server, tmp_path_factory.mktemp("home"), jobs)


@pytest.fixture(scope="session")
def studied(working: RunningService) -> Iterator[Owner]:
    """The owner of the demo with its facts, consolidated; each test undoes its changes."""
    with working.operator() as caller, new_owner(caller) as made:
        facts = sample_facts()
        for relation, kind in facts.predicates.items():
            made.put(f"/v1/predicates/{relation}", json={"predicate_class": kind})
        turns = with_facts(sample_conversation(), facts.extractions)
        with Client(working.url, made.key, timeout=120) as client:
            assert client.append_batch(turns).created == len(turns)
            client.consolidate(timeout_s=600)
        yield made


@pytest.fixture
def fresh(operator: httpx.Client) -> Iterator[Owner]:
    """The owner of an empty tenant."""
    with new_owner(operator) as made:
        yield made


@pytest.fixture
def reader(operator: httpx.Client, demo: Owner) -> str:
    """A key that may only read the demo."""
    return issued(operator, demo.name, "read")


def issued(operator: httpx.Client, tenant: str, *scopes: str) -> str:
    """Issue a key of a tenant."""
    body = {"name": "browser", "scopes": scopes}
    answer = operator.post("/v1/keys", json=body, headers={"Ecphoria-Tenant": tenant})
    return str(answer.json()["secret"])


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium of the system."""
    expect.set_options(timeout=SLOW_MS)
    async with async_playwright() as playwright:
        made = await playwright.chromium.launch(
            executable_path=browser_here(), args=["--no-sandbox"]
        )
        yield made
        await made.close()


@dataclass
class Tab:
    """A tab with what went wrong in it.

    Attributes:
        faults: Console messages, script errors, failed requests and requests to other origins.
    """

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    async def sign_in(self, key: str) -> None:
        """Paste a key."""
        await self.page.fill("input[name=key]", key)
        await self.page.click("form button")
        await self.page.wait_for_selector("header", timeout=SLOW_MS)

    async def open(self, screen: str = "ask", **query: object) -> None:
        """Follow a link of the page, and wait until the page shows its screen."""
        await self.page.evaluate(
            FOLLOW, f"#/{screen}?{urlencode({name: str(value) for name, value in query.items()})}"
        )

    async def ask(self, cue: str, **query: object) -> None:
        """Open a link to a cue and wait for its answer."""
        await self.open("ask", cue=cue, **query)
        await self.answered()

    async def answered(self) -> None:
        """Wait for the verdict and the picture."""
        await self.page.wait_for_selector(".verdict", timeout=SLOW_MS)
        await self.page.wait_for_selector("canvas[data-draws]")

    async def texts(self, selector: str) -> list[str]:
        """Read the texts of all elements."""
        return await self.page.locator(selector).all_text_contents()

    async def lit(self) -> set[str]:
        """Read from the table which nodes are awake."""
        if not await self.page.locator(".twin[open]").count():
            await self.page.click(".twin summary")
        await self.page.wait_for_selector(".twin tbody tr")
        rows = await self.page.eval_on_selector_all(
            ".twin tr[data-lit=true]", "rows => rows.map(row => row.dataset.node)"
        )
        return set(rows)


FOLLOW = """address => new Promise(followed => {
  if (location.hash === address) return followed();
  addEventListener('hashchange', followed, { once: true });
  location.hash = address;
})"""
"""The page listens since it was loaded, so it has drawn the address before this ends."""
BOXES = (
    "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.right, box.top])"
)
"""The left, the right and the top of elements, all read at the same time."""


async def side_by_side(found: Locator) -> bool:
    """Tell whether elements stand in one row, each to the right of the one before."""
    places = await found.evaluate_all(BOXES)
    assert places
    return all(
        right <= left and top == same for (_, right, top), (left, _, same) in pairwise(places)
    )


OpenTab = Callable[..., Awaitable[Tab]]


@pytest.fixture
async def open_tab(browser: Browser, service: RunningService) -> AsyncIterator[OpenTab]:
    """Open tabs, each with a profile of its own."""
    contexts: list[BrowserContext] = []

    async def opened(key: str | None = None, *, url: str = service.url, **options: object) -> Tab:
        given = {"reduced_motion": "reduce", "viewport": {"width": 1400, "height": 900}, **options}
        context = await browser.new_context(**given)  # type: ignore[arg-type]  # options of a test
        contexts.append(context)
        context.set_default_timeout(SLOW_MS)
        tab = Tab(await context.new_page(), url)
        _note_faults(tab)
        if SLOWER > 1:
            await _slow_down(tab.page)
        await tab.page.goto(f"{url}/explorer")
        if key is not None:
            await tab.sign_in(key)
        return tab

    yield opened
    for context in contexts:
        await context.close()


async def _slow_down(page: Page) -> None:
    """Show what a test reads too early."""
    browser = await page.context.new_cdp_session(page)
    await browser.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})

    async def late(route: Route) -> None:
        await asyncio.sleep(random.uniform(0, 0.3))  # noqa: S311
        with suppress(Error):  # the page itself ended it
            await route.continue_()

    await page.context.route("**/v1/**", late)


def _note_faults(tab: Tab) -> None:
    page = tab.page
    page.on("console", lambda message: tab.faults.append(message.text))
    page.on("pageerror", lambda error: tab.faults.append(str(error)))

    def failed(request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself ended it
            tab.faults.append(f"failed: {request.url}")

    page.on("requestfailed", failed)

    def known(url: str) -> None:
        if not url.startswith((tab.url, f"blob:{tab.url}")):
            tab.faults.append(f"another origin: {url}")

    page.on("request", lambda request: known(request.url))
