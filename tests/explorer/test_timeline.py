"""Timeline: counts that add up, the turns of a bar, and what was known at a time."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import expect

from tests.acceptance.conftest import Owner
from tests.explorer.conftest import OpenTab, Tab

MOVED = (("2024-02-03", "Lisbon"), ("2025-05-06", "Amsterdam"))


async def opened(open_tab: OpenTab, owner: Owner, **query: object) -> Tab:
    """Open the timeline of a tenant and wait for it."""
    tab = await open_tab(owner.key)
    await tab.open("timeline", **query)
    await tab.page.wait_for_selector(".strip a")
    return tab


async def counts(tab: Tab) -> list[int]:
    found = await tab.page.eval_on_selector_all(
        ".strip a", "bars => bars.map(bar => Number(bar.dataset.count))"
    )
    return [int(one) for one in found]


@pytest.mark.parametrize("by", ["month", "day", "session"])
async def test_the_bars_add_up_to_all_memories(open_tab: OpenTab, demo: Owner, by: str) -> None:
    tab = await opened(open_tab, demo, by=by)
    assert sum(await counts(tab)) == demo.get("/v1/stats").json()["episodes"]
    assert tab.faults == []


async def test_a_bar_opens_its_turns_and_the_arrows_move(open_tab: OpenTab, demo: Owner) -> None:
    tab = await opened(open_tab, demo, by="day", speaker="Mara")
    bar = tab.page.locator(".strip a").nth(2)
    day, count = await bar.get_attribute("data-bucket"), await bar.get_attribute("data-count")
    await bar.click()
    rows = tab.page.locator(".turns .memories li")
    await rows.first.wait_for()
    assert await rows.count() == int(count or 0) > 0
    wanted: dict[str, str | int] = {"speaker": "Mara", "limit": 1_000}
    said = demo.get("/v1/episodes", params=wanted).json()["items"]
    texts = [each["text"] for each in said if each["occurred_at"].startswith(day)]
    shown = await tab.texts(".turns .memories li p bdi")
    assert [text.replace("…", "") for text in shown] == [text[:600] for text in texts]
    await bar.press("ArrowRight")
    await tab.page.wait_for_selector(".strip a:nth-child(4)[aria-current=true]")
    await tab.page.reload()
    await tab.page.wait_for_selector(".strip a:nth-child(4)[aria-current=true]")
    await tab.page.locator(".strip a").nth(5).focus()
    for place in (7, 8):
        await tab.page.keyboard.press("ArrowRight")
        await tab.page.wait_for_selector(f".strip a:nth-child({place})[aria-current=true]:focus")
    await tab.page.fill(".turns input[type=search]", "otters")
    await tab.page.press(".turns input[type=search]", "Enter")
    await tab.answered()
    assert "match=all" in tab.page.url
    assert "speaker=Mara" in tab.page.url
    assert await tab.page.input_value("#cue") == "otters"
    assert tab.faults == []


async def test_each_bar_opens_whatever_its_name(open_tab: OpenTab, fresh: Owner) -> None:
    times = ("2025-01-12T01:00:00+05:00", "2025-01-12T20:00:00+05:00", "2025-01-11T20:30:00Z")
    for session, at in zip((" pier ", "pier", None), times, strict=True):
        fresh.remember(f"Otters of {at}.", session=session, occurred_at=at)
    sent: list[str] = []
    tab = await open_tab(fresh.key)
    tab.page.on("request", lambda each: sent.append(each.url))
    await tab.open("timeline", by="session")
    bars = tab.page.locator(".strip a")
    await bars.first.wait_for()
    for place in range(await bars.count()):
        await bars.nth(place).click()
        await tab.page.wait_for_selector(".strip a[aria-current=true]")
        await expect(tab.page.locator(".turns .memories li")).to_have_count(1)
    await expect(tab.page.locator(".known .empty")).to_have_count(1)
    assert len([url for url in sent if "/v1/facts" in url]) == 1
    # A day is that of the offset: the third memory is of the day before, after the first one.
    await tab.open("timeline", by="day", bucket="2025-01-12")
    await expect(tab.page.locator(".turns .memories li")).to_have_count(2)
    await tab.page.fill(".turns input[type=search]", "otters")
    await tab.page.press(".turns input[type=search]", "Enter")
    await tab.answered()
    assert "from=2025-01-11T20%3A00%3A00" in tab.page.url
    assert await tab.page.locator("input[name=from]").input_value() == "2025-01-11"
    assert tab.faults == []


async def test_a_time_before_the_move_shows_the_old_place(open_tab: OpenTab, fresh: Owner) -> None:
    fresh.put("/v1/predicates/lives in", json={"predicate_class": "functional"})
    for day, place in MOVED:
        stated = {"subject": "Ines", "predicate": "lives in", "object": place}
        fresh.remember(
            f"I live in {place} now.", speaker="Ines", occurred_at=f"{day}T10:00:00Z",
            session=day, extraction={"facts": [stated]},
        )  # fmt: skip
    tab = await opened(open_tab, fresh)

    async def states(**query: str) -> dict[str, str]:
        await tab.open("timeline", **query)
        at, known = query.get("as_of", ""), query.get("known_at", "")
        read = f".known[data-as-of='{at}'][data-known-at='{known}'] li"
        await tab.page.wait_for_selector(read)
        told = await tab.page.eval_on_selector_all(
            ".then",
            "rows => rows.map(row => [row.querySelector('bdi').textContent, row.dataset.state])",
        )
        return {re.sub(".* ", "", words): state for words, state in told}

    assert await states() == {"Lisbon": "over", "Amsterdam": "holds"}
    assert await tab.page.locator(".then.over s").inner_text() == "Ines lives in Lisbon"
    assert await states(as_of="2024-12-01T00:00:00Z") == {"Lisbon": "holds", "Amsterdam": "later"}
    recorded = fresh.get("/v1/episodes").json()["items"][0]["recorded_at"]
    between = datetime.fromisoformat(recorded) + timedelta(microseconds=1)
    known = await states(known_at=between.isoformat())
    assert known == {"Lisbon": "holds", "Amsterdam": "unknown"}
    assert "1 of 2 facts known" in await tab.page.inner_text(".known p[role=status]")
    paled = ".known .then.later, .known .then.unknown"
    colours = "all => all.map(one => getComputedStyle(one).color)"
    pale = await tab.page.locator(paled).evaluate_all(colours)
    holds = await tab.page.locator(".known .then.holds").evaluate_all(colours)
    assert len(pale) == len(holds) == 1
    assert pale != holds
    slider = tab.page.locator("input[name=known_at]")
    await slider.press("End")
    await slider.press("ArrowLeft")
    await tab.page.wait_for_function("location.hash.includes('known_at=2')")
    assert tab.faults == []


@pytest.mark.parametrize("days", [-4_000, 400], ids=["behind", "ahead"])
async def test_clocks_may_differ(open_tab: OpenTab, fresh: Owner, days: int) -> None:
    fresh.put("/v1/predicates/lives in", json={"predicate_class": "functional"})
    today = datetime.now(UTC)
    for distance, place in ((-30, "Lisbon"), (200, "Oslo")):
        stated = {"subject": "Ines", "predicate": "lives in", "object": place}
        fresh.remember(
            f"I live in {place} now.", speaker="Ines", extraction={"facts": [stated]},
            occurred_at=(today + timedelta(days=distance)).isoformat(),
        )  # fmt: skip
    fresh.post("/v1/recall", json={"cue": "Where does Ines live?"})
    tab = await open_tab(fresh.key)
    await tab.page.clock.set_system_time(today + timedelta(days=days))
    await tab.open("timeline")
    await tab.page.wait_for_selector(".known li")
    told = await tab.page.eval_on_selector_all(
        ".then",
        "rows => rows.map(row => [row.querySelector('bdi').textContent, row.dataset.state])",
    )
    assert dict(told) == {"Ines lives in Lisbon": "holds", "Ines lives in Oslo": "later"}
    slider = tab.page.locator("input[name=as_of]")
    assert await slider.input_value() == "1000"
    await slider.press("Home")
    await tab.page.wait_for_selector(".known[data-as-of^='20']")
    assert await slider.input_value() == "0"
    await tab.open("traces")
    await tab.page.wait_for_selector(".traces time")
    assert re.fullmatch(r"\d+ (second|minute)s? ago", await tab.page.inner_text(".traces time"))
    assert tab.faults == []


async def test_an_empty_memory_says_how_to_fill_it(open_tab: OpenTab, fresh: Owner) -> None:
    tab = await open_tab(fresh.key)
    await tab.open("timeline")
    await expect(tab.page.locator("main")).to_contain_text("ecphoria import")
    assert tab.faults == []
