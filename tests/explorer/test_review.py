"""Review: contradictions, merges and decisions change only as the service says."""

from typing import Any

from tests.acceptance.conftest import Owner, RunningService
from tests.explorer.conftest import OpenTab, Tab, issued, side_by_side


async def opened(open_tab: OpenTab, owner: Owner, key: str | None = None, **query: object) -> Tab:
    """Open Review of the tenant and wait for its lists."""
    tab = await open_tab(key or owner.key, url=str(owner.base_url).rstrip("/"))
    await tab.open("review", **query)
    for part in ("cycle", "contradictions", "merges", "decisions"):
        await tab.page.wait_for_selector(f"#{part}:not(:has(.skeleton))")
    return tab


def contested(owner: Owner) -> list[str]:
    listed = owner.get("/v1/facts", params={"standing": "contested", "sort": "time"})
    return [fact["id"] for fact in listed.json()["items"]]


async def test_both_facts_of_a_contradiction_stand_with_their_words(
    open_tab: OpenTab, studied: Owner
) -> None:
    tab = await opened(open_tab, studied)
    wanted = contested(studied)
    pairs = tab.page.locator("#contradictions .pair")
    assert await pairs.count() == len(wanted) > 0
    place = tab.page.locator("#contradictions .pair", has_text="wedding is located in")
    assert await place.locator(".fact").count() == 2
    assert await side_by_side(place.locator(".fact"))
    assert set(await place.locator("blockquote > bdi").all_text_contents()) == {
        "a barn near Amersfoort",
        "Moored at Wijk bij Duurstede",
    }
    assert tab.faults == []


async def test_a_retraction_with_its_reason_is_listed_and_undone(
    open_tab: OpenTab, studied: Owner
) -> None:
    tab = await opened(open_tab, studied)
    before = contested(studied)
    fact = tab.page.locator("#contradictions .pair .fact.contested").first
    chosen = await fact.get_attribute("data-fact")
    await fact.get_by_role("button", name="Retract").click()
    await fact.locator("input[name=why]").fill("It was said in jest.")
    await fact.get_by_role("button", name="Retract it").click()
    await tab.page.wait_for_selector("#decisions q >> text=said in jest")
    assert chosen not in contested(studied)
    made = studied.get("/v1/decisions").json()["items"][0]
    assert (made["ruling"], made["fact"]) == ("retract", chosen)
    row = tab.page.locator(f"#decisions li[data-decision='{made['id']}']")
    await row.get_by_role("button", name="Undo").click()
    await row.locator(".remark").wait_for()
    assert contested(studied) == before
    await tab.page.wait_for_selector(f"#contradictions .fact[data-fact='{chosen}']")
    assert tab.faults == []


async def test_a_merge_is_accepted_undone_and_rejected_by_keys(
    open_tab: OpenTab, studied: Owner
) -> None:
    tab = await opened(open_tab, studied)

    def statuses() -> dict[str, str]:
        listed = studied.get("/v1/merges").json()["items"]
        return {each["one"]: each["status"] for each in listed}

    # The demo's default never walks from the one name to the other; `cls` does if it is told to.
    cue = {"cue": "What did Signor Elio do?", "strategy": "cls", "options": {"merged": 1}}

    def recalled() -> list[Any]:
        hits = studied.post("/v1/recall", json=cue | {"record": False}).json()["hits"]
        # The retrievability of a memory falls with every second.
        return [(hit["episode"]["id"], hit["score"], hit["parts"], hit["path"]) for hit in hits]

    before = recalled()
    [one] = [name for name, status in statuses().items() if status == "proposed"]
    shown = tab.page.locator(f".merge[data-merge='{one}']")
    assert await shown.locator("blockquote").count() >= 2
    await tab.page.locator("h1").click()
    held = "{ key: 'r', repeat: true, bubbles: true }"
    await tab.page.evaluate(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {held}))")
    for key, status in (("a", "accepted"), ("u", "proposed"), ("r", "rejected")):
        await tab.page.keyboard.press(key)
        await tab.page.wait_for_selector(f".merge.{status}[data-merge='{one}']")
        assert statuses()[one] == status
        assert (recalled() == before) == (status != "accepted")
    await tab.page.select_option("#merges select", "rejected")
    await tab.page.wait_for_selector(f".merge.rejected[data-merge='{one}']")
    await tab.page.select_option("#merges select", "proposed")
    await tab.page.wait_for_selector("#merges .empty")
    await tab.page.go_back()
    await tab.open("review", status="rejected")
    await shown.get_by_role("button", name="Undo").click()
    await tab.page.wait_for_selector(f".merge.proposed[data-merge='{one}']")
    assert recalled() == before
    assert tab.faults == []


async def test_a_change_is_shown_only_when_the_service_has_made_it(
    open_tab: OpenTab, studied: Owner
) -> None:
    reader = issued(studied, studied.name, "read")
    tab = await opened(open_tab, studied)

    async def as_reader(route: Any) -> None:
        await route.continue_(
            headers={**route.request.headers, "authorization": f"Bearer {reader}"}
        )

    await tab.page.route("**/v1/merges", as_reader)
    await tab.page.get_by_role("button", name="Accept").first.click()
    await tab.page.wait_for_selector("#merges .fault")
    assert "write" in await tab.page.inner_text("#merges .fault")
    assert await tab.page.locator(".merge.accepted").count() == 0


async def test_a_reader_has_no_control_and_an_operator_allows_them(
    open_tab: OpenTab, working: RunningService, studied: Owner
) -> None:
    tab = await opened(open_tab, studied, issued(studied, studied.name, "read"))
    assert await tab.page.locator(".write").count() == 0
    found = studied.get("/v1/concepts", params={"q": "wedding"}).json()["items"]
    await tab.open("concept", id=found[0]["id"])
    await tab.page.wait_for_selector(".about .fact.contested")
    assert await tab.page.locator(".write").count() == 0
    await tab.open("review")
    await tab.page.wait_for_selector(".merge")
    assert await tab.page.locator(".merge").count() == 1
    operator = await opened(open_tab, studied, working.key, tenant=studied.name)
    assert await operator.page.locator(".write").count() == 0
    await operator.page.check("input[name=allow]")
    assert await operator.page.locator(".write").count() > 3


async def test_a_consolidation_runs_and_shows_its_report(
    open_tab: OpenTab, studied: Owner
) -> None:
    tab = await opened(open_tab, studied)
    await tab.page.check("input[name=dry]")
    await tab.page.get_by_role("button", name="Run now").click()
    await tab.page.wait_for_selector(".progress[data-state=done]")
    job = studied.get("/v1/jobs").json()["items"][0]
    steps = await tab.texts(".progress .steps-of-cycle tbody > tr > th")
    assert job["kind"] == "dry-run"
    assert steps == [step["name"] for step in job["report"]["steps"]]
    assert tab.faults == []


async def test_nothing_to_decide_is_said(open_tab: OpenTab, fresh: Owner) -> None:
    tab = await opened(open_tab, fresh)
    for part in ("cycle", "contradictions", "merges", "decisions"):
        assert await tab.page.locator(f"#{part} .empty").count() == 1
    assert await tab.page.locator(".problem").count() == 0
    assert tab.faults == []
