"""Concepts: facts with their words and times, and decisions about them."""

import json
import re
from itertools import pairwise

from tests.acceptance.conftest import Owner
from tests.explorer.conftest import BOXES, OpenTab, Tab, side_by_side


async def opened(open_tab: OpenTab, owner: Owner, name: str) -> Tab:
    """Open a concept and wait for its facts."""
    found = owner.get("/v1/concepts", params={"q": name}).json()["items"]
    tab = await open_tab(owner.key, url=str(owner.base_url).rstrip("/"))
    await tab.open("concept", id=found[0]["id"])
    await tab.page.wait_for_selector(".about .fact")
    return tab


async def listed(tab: Tab) -> list[str]:
    """Each fact with its state and times, in the order of the page."""
    return await tab.texts(".facts .fact > h4, .facts .fact > p:first-of-type")


async def test_intervals_of_a_fact_that_changed_stand_in_order(
    open_tab: OpenTab, studied: Owner
) -> None:
    # In the sample it is Tobias, not Ines, about whom three facts follow each other.
    tab = await opened(open_tab, studied, "tobias")
    group = tab.page.locator(".facts", has_text="status is")
    assert await group.locator("h4").all_text_contents() == [
        "Tobias status is unemployed", "Tobias status is trainee", "Tobias status is employed",
    ]  # fmt: skip
    assert await group.locator(".spans i").count() == 3
    spans = [
        (left, right) for left, right, _ in await group.locator(".spans i").evaluate_all(BOXES)
    ]
    assert len(spans) == 3
    # One ends where the next begins; a bar has at least a hundredth of the axis.
    assert all(start < end for start, end in spans)
    assert all(one[0] < other[0] for one, other in pairwise(spans))
    assert all(one[1] <= other[0] + 10 for one, other in pairwise(spans))
    assert await group.locator("blockquote > bdi").all_text_contents() == [
        "I'm unemployed", "tomorrow is my first day of school", "first real shift is monday",
    ]  # fmt: skip
    assert tab.faults == []


async def test_a_retraction_and_its_undo_restore_the_list(
    open_tab: OpenTab, studied: Owner
) -> None:
    tab = await opened(open_tab, studied, "wedding")
    before = await listed(tab)
    pair = tab.page.locator(".facts", has_text="is located in")
    assert set(await pair.locator("blockquote > bdi").all_text_contents()) == {
        "a barn near Amersfoort",
        "Moored at Wijk bij Duurstede",
    }
    assert await side_by_side(pair.locator(".fact"))
    evidence = await pair.locator(".fact > p small").all_text_contents()
    assert all(re.match(r"evidence \d\.\d\d", told) for told in evidence)
    contested = await pair.locator(".fact.contested h4").inner_text()
    held = pair.locator(".fact.held")
    await held.get_by_role("button", name="Retract").click()
    await held.locator("input[name=why]").fill("They moved the wedding.")
    await held.get_by_role("button", name="Retract it").click()
    await pair.locator(".fact.retracted").wait_for()
    assert await held.locator("h4").inner_text() == contested
    undo = tab.page.locator(".decisions li", has_text="They moved").get_by_role("button")
    await undo.click()
    await pair.locator(".fact.contested").wait_for()
    assert await listed(tab) == before
    assert tab.faults == []


async def test_both_are_kept_and_a_time_is_set(open_tab: OpenTab, studied: Owner) -> None:
    tab = await opened(open_tab, studied, "engagement")
    before = await listed(tab)
    pair = tab.page.locator(".facts", has_text="was proposed by")
    contested = pair.locator(".fact.contested")
    await contested.get_by_role("button", name="Keep both").click()
    await contested.locator(".deciding button").click()
    await contested.wait_for(state="detached")
    assert await pair.locator(".fact.held").count() == 2
    first = pair.locator(".fact").first
    await first.get_by_role("button", name="Set its time").click()
    await first.locator("input[name=from]").fill("2025-01-31")
    await first.locator("input[name=to]").fill("2025-02-28")
    await first.locator(".deciding button").click()
    await pair.get_by_text("31 Jan 2025 to 28 Feb 2025").first.wait_for()
    for _ in range(2):
        rows = tab.page.locator(".decisions li:not(.past)", has_not_text="Undid")
        left = await rows.count()
        await rows.get_by_role("button").first.click()
        await tab.page.wait_for_function(
            "left => [...document.querySelectorAll('.decisions li:not(.past)')]"
            ".filter(row => !row.textContent.includes('Undid')).length < left",
            arg=left,
        )
    await contested.wait_for()
    assert await listed(tab) == before
    assert tab.faults == []


async def test_the_clock_shows_one_edge_or_two(open_tab: OpenTab, studied: Owner) -> None:
    tab = await opened(open_tab, studied, "tobias")
    [concept] = [
        each["id"]
        for each in studied.get("/v1/concepts", params={"q": "tobias"}).json()["items"][:1]
    ]
    counts = {}
    for hops in (1, 2):
        asked = {"around": concept, "hops": hops, "limit": 200}
        counts[hops] = len(studied.get("/v1/graph", params=asked).json()["nodes"]["id"])
    assert counts[1] < counts[2] <= 200
    await tab.page.wait_for_selector(f".clock[data-nodes='{counts[1]}']")
    await tab.page.get_by_role("button", name="Two edges away").click()
    await tab.page.wait_for_selector(f".clock[data-nodes='{counts[2]}']")
    assert "hops=2" in tab.page.url
    around = studied.get("/v1/graph", params={"around": concept, "hops": 2, "limit": 200}).json()
    await tab.page.click(".about .twin summary")
    rows = tab.page.locator(".about .twin tr[data-node]")
    await rows.first.wait_for()
    shown = await rows.evaluate_all("all => all.map(row => row.dataset.node)")
    assert shown == around["nodes"]["id"]
    other = around["nodes"]["kind"].index("concept", 1)
    await rows.nth(other).locator("a").click()
    name = around["nodes"]["label"][other]
    await tab.page.wait_for_selector(f".about h2 bdi:text-is({json.dumps(name)})")
    assert tab.faults == []
