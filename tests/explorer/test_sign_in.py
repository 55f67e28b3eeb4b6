"""Who sees what: keys, tickets, tenants, and a service that is away."""

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Page, Route, expect

from ecphoria.settings import ServerSettings
from tests.acceptance.conftest import Owner, RunningService, new_owner, running, settings_for
from tests.conftest import Server
from tests.explorer.conftest import HUSBAND, SLOW_MS, OpenTab, issued

SOON_S = 10
"""A banner stands there at once; a busy machine may need this long to draw it."""


def ticket(owner: Owner, *, write: bool = False) -> str:
    answer = owner.post("/v1/explorer/tickets", json={"write": write})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ticket"])


async def stored(page: Page) -> str:
    return str(await page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}])"))


async def test_a_ticket_signs_in_once_and_leaves_the_address(
    open_tab: OpenTab, fresh: Owner
) -> None:
    tab = await open_tab()
    given = ticket(fresh)
    await tab.page.goto(f"{tab.url}/explorer#ticket={given}")
    await tab.page.wait_for_selector("header")
    assert given not in tab.page.url
    assert fresh.name in await tab.page.inner_text(".tenant")
    assert tab.faults == []
    other = await open_tab()
    await other.page.goto(f"{tab.url}/explorer#ticket={given}")
    await other.page.wait_for_selector(".problem")
    assert "used or is too old" in await other.page.inner_text(".problem")
    key = json.loads(json.loads(await stored(tab.page))[0]["ecphoria.explorer"])["key"]
    await tab.page.get_by_role("button", name="Sign out").click()
    await tab.page.wait_for_selector("input[name=key]")
    assert json.loads(await stored(tab.page))[0] == {}
    told = {"Authorization": f"Bearer {key}"}
    async with asyncio.timeout(60):
        while fresh.get("/v1/me", headers=told).status_code != 401:  # noqa: ASYNC110 (no event)
            await asyncio.sleep(0.1)


async def test_a_used_ticket_is_told_beside_the_former_key(
    open_tab: OpenTab, fresh: Owner
) -> None:
    tab = await open_tab(fresh.key)
    await tab.page.evaluate("location.hash = '#ticket=" + "u" * 43 + "'")
    await tab.page.wait_for_selector(".banner:has-text('used or is too old')")
    assert await tab.page.inner_text(".tenant") == fresh.name
    await tab.page.click(".banner button")
    await tab.page.wait_for_selector(".banner", state="detached")


async def test_the_session_of_a_tab_waits_for_the_service(open_tab: OpenTab, fresh: Owner) -> None:
    tab = await open_tab(fresh.key)
    away = True

    async def unavailable(route: Any) -> None:
        if away:
            await route.fulfill(status=503, json={"title": "Store unavailable", "status": 503})
        else:
            await route.continue_()

    await tab.page.route("**/v1/me", unavailable)
    await tab.page.reload()
    await tab.page.wait_for_selector(".banner")
    assert await tab.page.locator("input[name=key]").count() == 0
    away = False
    await tab.page.wait_for_selector("header")
    assert await tab.page.locator(".banner").count() == 0


async def test_a_key_that_could_not_be_ended_is_told(open_tab: OpenTab, fresh: Owner) -> None:
    tab = await open_tab()
    await tab.page.goto(f"{tab.url}/explorer#ticket={ticket(fresh)}")
    await tab.page.wait_for_selector("header")
    await tab.page.context.set_offline(True)
    await tab.page.get_by_role("button", name="Sign out").click()
    await tab.page.wait_for_selector(".problem:has-text('works until it expires')")
    assert json.loads(await stored(tab.page))[0] == {}


async def test_a_ticket_of_another_tenant_ends_what_runs(
    open_tab: OpenTab, fresh: Owner, operator: httpx.Client
) -> None:
    ids = [fresh.remember(f"Otter {n} sleeps.") for n in range(2)]
    tab = await open_tab(fresh.key)
    await tab.open("forgetting")
    for one in ids:
        await tab.page.locator(f"li[data-memory='{one}'] input").last.check()
    sent: list[str] = []
    changed = asyncio.Event()

    async def late(route: Any) -> None:
        sent.append(route.request.url)
        await changed.wait()
        await route.continue_()

    await tab.page.route("**/pin", late)
    await tab.page.locator("#list .acts").last.get_by_role("button", name="Pin").click()
    with new_owner(operator) as other:
        await tab.page.evaluate(f"location.hash = '#ticket={ticket(other)}'")
        await tab.page.wait_for_selector(f".tenant:has-text('{other.name}')")
        changed.set()
        await tab.open("forgetting")
        await tab.page.wait_for_selector("#list .empty >> nth=1")
    assert len(sent) == 1


async def test_what_is_read_next_names_the_writes_before(open_tab: OpenTab, fresh: Owner) -> None:
    one = fresh.remember("The otter sleeps.")
    tab = await open_tab(fresh.key)
    await tab.open("forgetting")
    told = "FB:kcwQVxCLzeoBSRqAehuuoXx4sskBV5A="  # of another database, so Neo4j does not wait

    async def telling(route: Any) -> None:
        answer = await route.fetch()
        await route.fulfill(
            response=answer, headers={**answer.headers, "ecphoria-bookmarks": told}
        )

    await tab.page.route("**/pin", telling)
    await tab.page.locator(f"li[data-memory='{one}'] input").last.check()
    async with tab.page.expect_request("**/v1/stats") as reading:
        await tab.page.locator("#list .acts").last.get_by_role("button", name="Pin").click()
    assert (await (await reading.value).all_headers())["ecphoria-bookmarks"] == told
    assert tab.faults == []


async def test_a_wrong_key_is_told(open_tab: OpenTab) -> None:
    tab = await open_tab()
    await tab.page.fill("input[name=key]", "eck_wrong")
    await tab.page.click("form button")
    await tab.page.wait_for_selector(".problem")
    assert "does not know this key" in await tab.page.inner_text(".problem")
    await tab.page.fill("input[name=key]", "\u201ceck_wrong\u201d")  # as a text program quotes it
    await tab.page.click("form button")
    await tab.page.wait_for_selector("form button:enabled")
    assert "does not know this key" in await tab.page.inner_text(".problem")


async def test_a_link_of_a_tenant_that_cannot_be_is_told(
    open_tab: OpenTab, service: RunningService, demo: Owner
) -> None:
    tab = await open_tab(service.key)
    await tab.open("traces", tenant="\u0434\u043e\u043c")
    await tab.page.wait_for_selector(".problem[data-status='404']")
    await tab.page.select_option("header select", demo.name)
    await tab.page.wait_for_selector(".start")


async def test_a_key_that_may_only_read_has_no_control_that_writes(
    open_tab: OpenTab, demo: Owner, reader: str, operator: httpx.Client
) -> None:
    tab = await open_tab(reader)
    await tab.ask(HUSBAND)
    assert await tab.page.locator(".write").count() == 0
    writer = await open_tab(issued(operator, demo.name, "read", "write"))
    await writer.ask(HUSBAND)
    # A key whose rights shrank: the page shows the refusal of the service.

    async def as_reader(route: Any) -> None:
        told = {**route.request.headers, "authorization": f"Bearer {reader}"}
        await route.continue_(headers=told)

    await writer.page.route("**/pin", as_reader)
    await writer.page.locator(".write").first.click()
    await writer.page.wait_for_selector(".fault")
    assert "write" in await writer.page.inner_text(".fault")


async def test_nothing_of_a_tenant_stays_after_a_change(
    open_tab: OpenTab, service: RunningService, demo: Owner, fresh: Owner
) -> None:
    fresh.remember("The gate is painted green.", speaker="Bo", session="yard")
    tab = await open_tab(service.key)
    await tab.page.select_option("header select", demo.name)
    await tab.ask(HUSBAND, tenant=demo.name)
    assert "three boats" in await tab.page.content()
    sent: list[str] = []
    tab.page.on("request", lambda each: sent.append(f"{each.url} {each.post_data} {each.headers}"))
    await tab.page.select_option("header select", fresh.name)
    await tab.page.wait_for_selector(".start")
    await tab.ask("What is green?", tenant=fresh.name)
    assert "painted green" in await tab.page.content()
    for place in (await tab.page.content(), await stored(tab.page), *sent, tab.page.url):
        for word in ("three boats", "husband", demo.name):
            # The list of tenants itself names them all.
            assert (word == demo.name and "<html" in place) or word not in place
    assert sent


async def test_an_operator_signs_in_on_the_link_of_a_tenant(
    open_tab: OpenTab, service: RunningService, demo: Owner
) -> None:
    tab = await open_tab()
    await tab.open("ask", cue=HUSBAND, tenant=demo.name)
    await tab.sign_in(service.key)
    await tab.answered()
    await expect(tab.page.locator("header select")).to_have_value(demo.name)
    assert tab.faults == []


async def test_a_list_of_tenants_that_fails_is_told(
    open_tab: OpenTab, service: RunningService, demo: Owner
) -> None:
    tab = await open_tab()

    async def failing(route: Route) -> None:
        await route.fulfill(status=500, json={"title": "Fault", "detail": "It broke."})

    await tab.page.route("**/v1/tenants", failing)
    await tab.sign_in(service.key)
    await expect(tab.page.locator("header .fault")).to_contain_text("It broke.")
    await tab.page.unroute("**/v1/tenants")
    await tab.page.get_by_role("button", name="Try again").click()
    await tab.page.select_option("header select", demo.name)


async def test_a_revoked_key_keeps_the_cue(
    open_tab: OpenTab, demo: Owner, operator: httpx.Client
) -> None:
    key, next_one = (issued(operator, demo.name, "read") for _ in range(2))
    tab = await open_tab(key)
    await tab.page.fill("#cue", HUSBAND)
    told = {"Authorization": f"Bearer {key}"}
    known = demo.get("/v1/me", headers=told).json()["key"]
    assert demo.delete(f"/v1/keys/{known}").status_code == 204
    await tab.page.press("#cue", "Enter")
    await tab.page.wait_for_selector("input[name=key]")
    assert "cue is kept" in await tab.page.inner_text(".problem")
    assert json.loads(await stored(tab.page))[0] == {}
    await tab.sign_in(next_one)
    await tab.answered()
    assert await tab.page.input_value("#cue") == HUSBAND
    await tab.page.get_by_role("button", name="Sign out").click()
    await tab.page.wait_for_selector("input[name=key]")
    assert json.loads(await stored(tab.page))[0] == {}


async def test_the_page_waits_for_a_service_that_is_away(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    await tab.page.context.set_offline(True)
    await tab.page.fill("#cue", "Who has three boats?")
    begun = time.monotonic()
    await tab.page.press("#cue", "Enter")
    await tab.page.wait_for_selector(".banner")
    assert time.monotonic() - begun < SOON_S
    await tab.page.context.set_offline(False)
    await tab.page.wait_for_selector(".hit", timeout=SLOW_MS)
    assert await tab.page.locator(".banner").count() == 0


async def test_a_service_that_stops_in_the_middle_is_met_again(
    open_tab: OpenTab, neo4j_server: Server, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = settings_for(neo4j_server, tmp_path, server=ServerSettings(port=port))
    with running(settings) as first:
        with first.operator() as operator, new_owner(operator, erase=False) as keeper:
            keeper.remember("Mara Holm feeds the otters at noon.", session="pier")
            tab = await open_tab(keeper.key, url=first.url)
        await tab.page.evaluate("window.loaded = 1")
        asked = asyncio.Event()
        stopped = asyncio.Event()

        async def held(route: Any) -> None:
            asked.set()
            await stopped.wait()
            await route.continue_()

        await tab.page.route("**/v1/recall", held)
        await tab.open("ask", cue="When are the otters fed?")
        await asked.wait()
    stopped.set()
    await tab.page.wait_for_selector(".banner", timeout=1_000 * SOON_S)
    await tab.page.unroute_all()
    with running(settings):
        await tab.answered()
        assert "otters" in await tab.page.inner_text(".hit")
        assert await tab.page.evaluate("window.loaded") == 1
        assert await tab.page.locator(".banner").count() == 0


async def test_the_page_waits_as_long_as_it_is_told(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    times: list[float] = []
    shown, told = asyncio.Event(), asyncio.Event()

    async def once(route: Any) -> None:
        times.append(time.monotonic())
        if len(times) > 1:
            await told.wait()  # an answer takes the banner away
            await route.continue_()
            return
        problem = {"type": "/errors/rate", "title": "Too many requests", "status": 429}
        await route.fulfill(status=429, headers={"Retry-After": "2"}, json=problem)

    async def beside(route: Any) -> None:
        await shown.wait()
        await route.continue_()

    await tab.page.route("**/v1/recall", once)
    await tab.page.route("**/v1/sessions*", beside)
    await tab.open("ask", cue=HUSBAND)
    await tab.page.wait_for_selector('.banner:has-text("waits 2 seconds")')
    async with tab.page.expect_response("**/v1/sessions*") as read:
        shown.set()
    await (await read.value).finished()
    assert await tab.page.locator(".banner").count() == 1  # the recall still waits
    told.set()
    await tab.answered()
    assert times[1] - times[0] >= 2


async def test_a_recall_can_be_stopped(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)

    async def never(route: Any) -> None:
        del route

    await tab.page.route("**/v1/recall", never)
    await tab.open("ask", cue=HUSBAND)
    await tab.page.wait_for_selector(".skeleton")
    await tab.page.keyboard.press("Escape")
    await tab.page.wait_for_selector(".start")
    assert "Stopped" in await tab.page.inner_text(".start")
    await tab.page.unroute_all(behavior="ignoreErrors")
