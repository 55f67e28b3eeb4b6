"""Forgetting: lists and counts agree with the service after each change."""

import asyncio
from typing import Any

from playwright.async_api import expect

from ecphoria.client import Client
from tests.acceptance.conftest import Owner
from tests.explorer.conftest import OpenTab, Tab, issued

COUNT = 8


def filled(owner: Owner) -> list[str]:
    """Store some memories; return their ids, the newest first."""
    ids = [
        owner.remember(
            f"Otter {n} sleeps at the pier.", speaker="Mara" if n % 2 else "Davor",
            session="pier", occurred_at=f"2025-03-0{n + 1}T10:00:00Z",
        )
        for n in range(COUNT)
    ]  # fmt: skip
    return ids[::-1]


async def opened(open_tab: OpenTab, owner: Owner, key: str | None = None, **query: str) -> Tab:
    """Open a list of the screen and wait for it."""
    tab = await open_tab(key or owner.key)
    await show(tab, **query)
    return tab


async def show(tab: Tab, **query: str) -> None:
    await tab.open("forgetting", **query)
    await tab.page.wait_for_selector("b[data-count=live]")
    await tab.page.wait_for_selector("#list:not(:has(.skeleton))")


async def choose(tab: Tab, *ids: str) -> None:
    for one in ids:
        await tab.page.locator(f"li[data-memory='{one}'] input").last.check()


async def press(tab: Tab, name: str) -> None:
    button = tab.page.locator("#list .acts").last.get_by_role("button", name=name, exact=True)
    await button.click()


async def agrees(tab: Tab, owner: Owner, **wanted: int) -> None:
    """The page shows these counts, and the service has them."""
    counts = {"live": 0, "dormant": 0, "archived": 0} | wanted
    for name, count in counts.items():
        await tab.page.wait_for_selector(f"b[data-count={name}]:text-is('{count}')")
    stats = owner.get("/v1/stats").json()
    assert stats["episodes"] == sum(counts.values())
    assert (stats["dormant"], stats["archived"]) == (counts["dormant"], counts["archived"])


async def test_memories_sleep_wake_are_pinned_archived_and_restored(
    open_tab: OpenTab, fresh: Owner
) -> None:
    ids = filled(fresh)
    tab = await opened(open_tab, fresh)
    await agrees(tab, fresh, live=COUNT)
    await tab.page.locator(f"li[data-memory='{ids[0]}'] input").last.click()
    await tab.page.locator(f"li[data-memory='{ids[2]}'] input").last.click(modifiers=["Shift"])
    await press(tab, "Make dormant")
    await agrees(tab, fresh, live=COUNT - 3, dormant=3)
    await tab.page.wait_for_selector(f"li[data-memory='{ids[0]}']", state="detached")
    await show(tab, list="dormant")
    assert await tab.page.locator(".memories li").count() == 3
    await choose(tab, ids[0])
    await press(tab, "Wake")
    await agrees(tab, fresh, live=COUNT - 2, dormant=2)
    await tab.page.wait_for_selector(f"li[data-memory='{ids[0]}']", state="detached")
    await show(tab)
    await choose(tab, ids[5])
    await press(tab, "Pin")
    await tab.page.wait_for_selector(f"li[data-memory='{ids[5]}'] .remark:text-is('Pinned')")
    await show(tab, list="pinned")
    assert await tab.page.locator(".memories li").count() == 1
    await choose(tab, ids[5])
    await press(tab, "Unpin")
    await tab.page.wait_for_selector("#list .empty")
    assert fresh.get(f"/v1/episodes/{ids[5]}").json()["pinned"] is False
    assert fresh.post("/v1/archive", json={"days": 0}).json() == {"archived": 2}
    await show(tab, list="archived")
    await tab.page.reload()
    await agrees(tab, fresh, live=COUNT - 2, archived=2)
    await choose(tab, ids[1], ids[2])
    await press(tab, "Restore")
    await agrees(tab, fresh, live=COUNT - 2, dormant=2)
    await tab.page.wait_for_selector("#list .empty")
    assert tab.faults == []


async def test_a_preview_tells_what_a_policy_would_do_and_does_nothing(
    open_tab: OpenTab, fresh: Owner
) -> None:
    filled(fresh)
    policy = {"mode": "budget", "budget": 5, "quiet_days": 0}
    wanted = fresh.post("/v1/dormancy/preview", json=policy).json()
    before = fresh.get("/v1/stats").json()
    tab = await opened(open_tab, fresh, mode="budget", budget="5", quiet="0")
    await tab.page.wait_for_selector(f"h2 .count:text-is('{wanted['dormant']} of {COUNT} live')")
    rows = tab.page.locator("#list .memories").first.locator("li")
    shown = [await row.get_attribute("data-memory") for row in await rows.all()]
    assert shown == [each["id"] for each in wanted["items"]] != []
    assert await rows.locator(".remark").all_text_contents() == [
        each["reason"] for each in wanted["items"]
    ]
    answered = asyncio.Event()

    async def late(route: Any) -> None:
        await answered.wait()
        await route.continue_()

    await tab.page.route("**/preview", late)
    await tab.page.select_option("select[name=mode]", "off")
    await expect(rows).to_have_count(COUNT)  # what the former policy does is gone at once
    assert await tab.page.locator("#list .memories").count() == 1
    answered.set()
    await tab.page.wait_for_selector("#list .empty")
    assert fresh.get("/v1/stats").json() == before
    assert tab.faults == []


async def test_an_admin_sets_the_policy_that_was_shown(open_tab: OpenTab, fresh: Owner) -> None:
    filled(fresh)
    shown = {"mode": "budget", "budget": "5"}
    name = "Set this policy"
    writer = await opened(open_tab, fresh, issued(fresh, fresh.name, "read", "write"), **shown)
    assert await writer.page.get_by_role("button", name=name).count() == 0
    tab = await opened(open_tab, fresh)
    assert await tab.page.get_by_role("button", name=name).is_disabled()
    await show(tab, **shown)
    await tab.page.get_by_role("button", name=name).click()
    await tab.page.wait_for_function("() => !location.hash.includes('budget')")
    in_force = fresh.get("/v1/settings").json()["dormancy"]
    assert (in_force["mode"], in_force["budget"], in_force["quiet_days"]) == ("budget", 5, 7)
    assert fresh.get("/v1/stats").json()["dormant"] == 0  # the next consolidation applies it
    assert tab.faults == []


async def test_erasing_needs_the_number_and_erases_what_was_shown(
    open_tab: OpenTab, fresh: Owner
) -> None:
    filled(fresh)
    asked = {"filters": {"speaker": "Mara"}, "dry_run": True}
    removes = fresh.post("/v1/episodes/erase", json=asked).json()["removes"]
    before = fresh.get("/v1/stats").json()
    tab = await opened(open_tab, fresh, list="erase")
    await tab.page.fill("input[name=speaker]", "Mara")
    await tab.page.get_by_role("button", name="Show what would go").click()
    number = tab.page.locator("input[name=number]")
    await number.wait_for()
    shown = await tab.page.eval_on_selector_all(
        "[data-removes]",
        "rows => rows.map(row => [row.dataset.removes, Number(row.dataset.count)])",
    )
    assert dict(shown) == {kind: count for kind, count in removes.items() if count} != {}
    erase = tab.page.locator(".erasing button")
    await number.fill(str(COUNT))
    assert await erase.is_disabled()
    await number.press("Enter")
    await agrees(tab, fresh, live=COUNT)
    await number.fill(str(COUNT // 2))
    await erase.click()
    await tab.page.wait_for_selector(f".erased:text('{COUNT // 2} memories erased')")
    await agrees(tab, fresh, live=COUNT // 2)
    assert {each["speaker"] for each in fresh.get("/v1/episodes").json()["items"]} == {"Davor"}
    after = fresh.get("/v1/stats").json()
    assert all(before[kind] - after[kind] == count for kind, count in shown)
    assert tab.faults == []


async def test_a_preview_ends_when_what_it_is_of_changes(open_tab: OpenTab, fresh: Owner) -> None:
    ids = filled(fresh)
    tab = await opened(open_tab, fresh, list="erase", ids=",".join(ids[:2]))
    preview = tab.page.get_by_role("button", name="Show what would go")
    await preview.click()
    await tab.page.wait_for_selector(".erasing:has-text('2 memories')")
    await tab.page.get_by_role("button", name="Filter all memories").click()
    await tab.page.wait_for_selector(".erasing", state="detached")
    await tab.page.fill("input[name=speaker]", "Mara")
    await preview.click()
    await tab.page.wait_for_selector(f".erasing:has-text('{COUNT // 2} memories')")
    await tab.page.fill("input[name=speaker]", "Davor")
    await tab.page.wait_for_selector(".erasing", state="detached")
    changed = asyncio.Event()

    async def late(route: Any) -> None:
        await changed.wait()
        await route.continue_()

    await tab.page.route("**/erase", late)
    await preview.click()
    await tab.page.fill("input[name=speaker]", "Mara")
    async with tab.page.expect_response("**/erase") as answer:
        changed.set()
    await (await answer.value).finished()
    await expect(preview).to_be_enabled()
    assert await tab.page.locator(".erasing").count() == 0
    assert tab.faults == []


async def test_an_unknown_list_is_the_first(open_tab: OpenTab, fresh: Owner) -> None:
    filled(fresh)
    tab = await opened(open_tab, fresh, list="constructor")
    await tab.page.wait_for_selector(".memories li")
    await tab.page.get_by_role("link", name="Pinned").click()
    await tab.page.wait_for_selector("#list .empty")
    await tab.page.go_back()
    await tab.page.wait_for_selector(".memories li")


async def test_chosen_memories_are_erased(open_tab: OpenTab, fresh: Owner) -> None:
    ids = filled(fresh)
    tab = await opened(open_tab, fresh)
    await choose(tab, ids[1], ids[4])
    await press(tab, "Erase")
    await tab.page.wait_for_selector("#list:has-text('Only the 2 memories that you chose')")
    await tab.page.get_by_role("button", name="Show what would go").click()
    await tab.page.fill("input[name=number]", "2")
    await tab.page.click(".erasing button")
    await tab.page.wait_for_selector(".erased:text('2 memories erased')")
    await agrees(tab, fresh, live=COUNT - 2)
    left = {each["id"] for each in fresh.get("/v1/episodes").json()["items"]}
    assert left == {*ids} - {ids[1], ids[4]}
    assert tab.faults == []


async def test_memories_that_expire_are_listed_and_kept(open_tab: OpenTab, fresh: Owner) -> None:
    ids = filled(fresh)
    for one, year in ((ids[3], 2099), (ids[5], 2098), (ids[1], 2098)):
        end = {"expires_at": f"{year}-01-01T00:00:00Z"}
        assert fresh.patch(f"/v1/episodes/{one}", json=end).status_code == 200
    wanted = [*sorted((ids[5], ids[1])), ids[3]]
    assert [each["id"] for each in fresh.get("/v1/expiring").json()["items"]] == wanted
    with Client(str(fresh.base_url), fresh.key) as client:
        assert [each.id for each in client.archive.expiring(page_size=1)] == wanted
    tab = await opened(open_tab, fresh, list="expiring")
    rows = tab.page.locator("#list .memories li")
    assert [await row.get_attribute("data-memory") for row in await rows.all()] == wanted
    assert "expires 1 Jan 2099" in await rows.last.inner_text()
    await choose(tab, ids[3])
    await press(tab, "Never expire")
    await tab.page.wait_for_selector(f"li[data-memory='{ids[3]}']", state="detached")
    assert fresh.get(f"/v1/episodes/{ids[3]}").json()["expires_at"] is None
    assert tab.faults == []


async def test_a_reader_has_no_control_and_a_forged_click_is_refused(
    open_tab: OpenTab, fresh: Owner
) -> None:
    filled(fresh)
    reader = issued(fresh, fresh.name, "read")
    for name in ("live", "dormant", "archived", "pinned", "expiring", "erase"):
        tab = await opened(open_tab, fresh, reader, list=name)
        assert await tab.page.locator(".write").count() == 0, name
        assert await tab.page.locator("input[type=checkbox]").count() == 0, name
    writer = await opened(open_tab, fresh)

    async def as_reader(route: Any) -> None:
        told = {**route.request.headers, "authorization": f"Bearer {reader}"}
        await route.continue_(headers=told)

    await writer.page.route("**/dormancy/sleep", as_reader)
    await writer.page.locator(".memories input").last.check()
    await press(writer, "Make dormant")
    await writer.page.wait_for_selector(".fault")
    assert "write" in await writer.page.inner_text(".fault")
    await agrees(writer, fresh, live=COUNT)
