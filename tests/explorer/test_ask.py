"""Ask: the picture, the score and the words agree with the API."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ecphoria.demo.sample import sample_questions
from tests.acceptance.conftest import Owner
from tests.explorer.conftest import HUSBAND, TICK, OpenTab, Tab

QUESTIONS = [HUSBAND, *(each.question for each in sample_questions())]


def recalled(owner: Owner, cue: str, **body: object) -> dict[str, Any]:
    asked = {"cue": cue, "explain": True, "record": False, **body}
    answer = owner.post("/v1/recall", json=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def strategies(owner: Owner) -> list[str]:
    return [each["name"] for each in owner.get("/v1/strategies").json()["items"]]


async def test_an_answer_and_the_parts_of_its_score(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.page.fill("#cue", HUSBAND)
    await tab.page.press("#cue", "Enter")
    await tab.answered()
    assert await tab.texts(".verdict strong") == ["I remember"]
    first = tab.page.locator(".hit").first
    assert "three boats" in await first.inner_text()
    values = [float(text) for text in await first.locator(".part b").all_text_contents()]
    assert sum(values) == pytest.approx(
        float(await first.locator(".score").inner_text()), abs=0.003
    )
    assert tab.faults == []


async def test_steps_show_what_the_waves_reached(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    for strategy in strategies(demo):
        trace = recalled(demo, HUSBAND, strategy=strategy)["trace"]
        await tab.ask(HUSBAND, strategy=strategy, step=0)
        await tab.page.wait_for_function(
            "count => document.querySelectorAll('.step').length === count",
            arg=len(trace["waves"]) + 4,
        )
        assert await tab.lit() == set()
        reached = {seed["node"] for seed in trace["seeds"]}
        await tab.page.locator(".step").nth(1).click()
        assert await tab.lit() == reached
        for wave in trace["waves"]:
            reached |= {arc["head"] for arc in wave["arcs"]}
            await tab.page.locator(".step").nth(wave["number"] + 1).click()
            assert await tab.lit() == reached, (strategy, wave["number"])
            said = await tab.page.inner_text(".told")
            assert f"{wave['arcs_left_out']:,} weaker not" in said


async def test_the_step_score_weighs_the_confidence_between_the_limits(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    for cue in (HUSBAND, TICK):
        told = recalled(demo, cue)
        limits = told["judged_by"]
        assert told["trace"]["judged_by"] == limits
        await tab.ask(cue, step=len(told["trace"]["waves"]) + 2)
        await tab.page.wait_for_selector(".score .weighed")
        scale = tab.page.locator(".score .weighed .sure")
        cuts = [limits["threshold"], limits["verify_below"]]
        assert [
            float(cut) for cut in str(await scale.get_attribute("data-limits")).split()
        ] == cuts
        said = await tab.page.inner_text(".told")
        for figure in (told["confidence"], *cuts):
            assert f"{figure:.2f}" in said
        assert "shipped gate" in await tab.page.inner_text(".verdict")


async def test_every_hit_is_a_seed_or_reached_by_an_arc_and_has_a_name(demo: Owner) -> None:
    for strategy in strategies(demo):
        for question in QUESTIONS:
            trace = recalled(demo, question, strategy=strategy)["trace"]
            reached = {seed["node"] for seed in trace["seeds"]}
            reached |= {arc["head"] for wave in trace["waves"] for arc in wave["arcs"]}
            assert {hit["episode"] for hit in trace["hits"]} <= reached
            labels = [node["label"] for node in trace["nodes"]]
            assert all(label and not re.search("[0-9a-f]{32}", label) for label in labels)


async def test_no_row_of_the_table_is_without_a_name(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND, strategy="cls")
    await tab.lit()
    names = await tab.texts(".twin td.name")
    assert names
    assert all(name and not re.search("[0-9a-f]{32}", name) for name in names)


async def chosen_hit(tab: Tab) -> str | None:
    return await tab.page.locator(".hit.chosen").get_attribute("data-hit")


async def test_a_click_and_the_keys_choose_a_hit_and_show_its_path(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    hits = recalled(demo, HUSBAND)["hits"]
    await tab.page.locator("#hit-3 button[aria-pressed]").first.click()
    assert await chosen_hit(tab) == hits[2]["episode"]["id"]
    assert len(await tab.texts(".hit.chosen .path li")) == len(hits[2]["path"])
    await tab.page.locator("h1").click()
    for key, rank in (("j", 4), ("k", 3), ("k", 2)):
        await tab.page.keyboard.press(key)
        await tab.page.wait_for_selector(f"#hit-{rank}.chosen")
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_selector(".hit.chosen", state="detached")
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_selector("#hit-1.chosen")


async def test_a_click_on_a_dot_of_the_picture_chooses_its_hit(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    svg = await exported(tab, "Picture (SVG)")
    dots = r'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*data-node="(\w+)" data-state="hit"'
    found = re.search(dots, svg)
    assert found
    box = await tab.page.locator(".picture canvas").bounding_box()
    assert box
    # The file has the same layout on 1,000 by 460 pixels, below a head of 58.
    x = 14 + (float(found[1]) - 14) * (box["width"] - 28) / (1_000 - 28)
    y = 52 + (float(found[2]) - 58 - 52) * (box["height"] - 78) / (460 - 78)
    await tab.page.mouse.click(box["x"] + x, box["y"] + y)
    await tab.page.wait_for_selector(".hit.chosen")
    assert await chosen_hit(tab) == found[3]


async def test_an_unanswerable_question_says_so_with_reasons(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(TICK)
    asked = recalled(demo, TICK)
    assert await tab.texts(".verdict strong") == ["I don't know"]
    assert await tab.texts(".reasons li") == asked["reasons"]
    assert len(asked["reasons"]) == 4
    await tab.page.click("#tab-misses")
    assert len(await tab.texts(".misses li")) == len(asked["misses"]) > 0


async def test_looking_changes_nothing_and_recording_is_a_choice(
    open_tab: OpenTab, fresh: Owner
) -> None:
    fresh.remember("Mara Holm feeds the otters at noon.", speaker="Davor", session="pier")
    tab = await open_tab(fresh.key)
    before = fresh.get("/v1/stats").json()
    for _ in range(2):
        await tab.page.fill("#cue", "When are the otters fed?")
        await tab.page.press("#cue", "Enter")
        await tab.answered()
    assert fresh.get("/v1/stats").json() == before
    await tab.page.click(".more summary")
    await tab.page.check("input[name=record]")
    await tab.page.click("form.cue button.main")
    await tab.answered()
    async with asyncio.timeout(60):
        while len(fresh.get("/v1/traces").json()["items"]) != 1:  # noqa: ASYNC110 (no event of it)
            await asyncio.sleep(0.1)
    assert tab.faults == []


async def test_hits_of_a_recorded_recall_are_judged_once(open_tab: OpenTab, fresh: Owner) -> None:
    ids = {fresh.remember(f"Mara feeds the otters at {n}.", session="pier") for n in (7, 8)}
    tab = await open_tab(fresh.key)
    await tab.ask("When are the otters fed?")
    judging = tab.page.locator(".acts").get_by_role("button", name="seful")
    assert await judging.count() == 0  # this recall leaves no trace
    trace = fresh.post("/v1/recall", json={"cue": "When are the otters fed?"}).json()["trace_id"]
    await tab.open("ask", trace=trace)
    await tab.page.locator("#hit-2").get_by_role("button", name="Useful", exact=True).wait_for()
    assert await judging.count() == 2 * len(ids)
    await tab.page.locator("#hit-1").get_by_role("button", name="Useful", exact=True).click()
    await tab.page.wait_for_selector("#hit-1 .remark:text-is('Marked as useful')")
    await tab.page.locator("#hit-2").get_by_role("button", name="Not useful").click()
    await tab.page.wait_for_selector("#hit-2 .remark:text-is('Marked as not useful')")
    await tab.page.reload()
    await tab.page.wait_for_selector("#hit-1 .remark:text-is('Marked as useful')")
    assert await judging.count() == 0
    hits = fresh.get(f"/v1/traces/{trace}").json()["hits"]
    assert [hit["useful"] for hit in hits] == [True, False]
    assert fresh.get(f"/v1/episodes/{hits[0]['episode']}").json()["reliability"] > 0.7
    assert tab.faults == []


async def test_a_link_opens_the_same_step_and_hit_and_back_works(
    open_tab: OpenTab, demo: Owner
) -> None:
    one = await open_tab(demo.key)
    await one.ask(HUSBAND)
    await one.page.locator(".step").nth(1).click()
    await one.page.locator("#hit-2 button[aria-pressed]").first.click()
    await one.page.wait_for_selector("#hit-2.chosen")
    other = await open_tab(demo.key)
    await other.page.goto(one.page.url)
    await other.answered()
    await other.page.wait_for_selector("#hit-2.chosen")
    assert await other.texts(".step[aria-current=step]") == ["seeds"]
    await other.ask(TICK)
    await other.page.go_back()
    await other.page.wait_for_selector("#hit-2.chosen")
    assert await other.page.input_value("#cue") == HUSBAND


async def test_a_link_to_a_trace_and_to_one_that_is_gone(open_tab: OpenTab, fresh: Owner) -> None:
    fresh.remember("Mara Holm feeds the otters at noon.", speaker="Davor", session="pier")
    answer = fresh.post("/v1/recall", json={"cue": "When are the otters fed?"}).json()
    tab = await open_tab(fresh.key)
    await tab.open("traces")
    await tab.page.click(".traces a")
    await tab.answered()
    assert "trace=" + answer["trace_id"] in tab.page.url
    assert "feeds the otters" in await tab.page.inner_text(".hit .words")
    assert await tab.page.input_value("#cue") == "When are the otters fed?"
    await tab.page.click(".recorded button")
    await tab.page.wait_for_selector(".recorded", state="detached")
    await tab.open("ask", trace="0" * 32)
    await tab.page.wait_for_selector(".problem[data-status='404']")
    assert "erased or dropped" in await tab.page.inner_text(".problem")


async def test_two_strategies_stand_on_the_same_columns(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    columns = await tab.page.get_attribute(".picture canvas", "data-columns")
    await tab.page.select_option(".compare select", "cls")
    await tab.page.wait_for_selector(".ranks")
    assert await tab.page.get_attribute(".picture canvas", "data-columns") == columns
    svg = await exported(tab, "Picture (SVG)")
    places = re.findall(r'data-node="(\w+)"', svg)
    both = [
        {hit["episode"]["id"] for hit in recalled(demo, HUSBAND, strategy=name)["hits"]}
        for name in ("ecphoria", "cls")
    ]
    shared = both[0] & both[1]
    assert all(places.count(node) >= 2 for node in shared)
    assert svg.count('stroke-dasharray="4 4"') == len(shared)
    assert f"{len(shared)} hits in both" in await tab.page.inner_text(".ranks")


async def test_the_context_is_shown_byte_for_byte_and_leads_to_the_hits(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    async with tab.page.expect_response(lambda answer: answer.url.endswith("/v1/recall")) as sent:
        await tab.ask(HUSBAND)
    asked = await (await sent.value).json()
    await tab.page.click("#tab-context")
    assert await tab.page.locator("pre.context").text_content() == asked["context"]
    lines = tab.page.locator("button.line")
    assert await lines.count() == len(asked["references"])
    number = asked["references"][0]["number"]
    await lines.first.click()
    await tab.page.wait_for_selector(f"#hit-{number}.chosen")


async def exported(tab: Tab, name: str) -> str:
    if not await tab.page.locator(".export[open]").count():
        await tab.page.click(".export summary")
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name=name).click()
    saved = await (await download.value).path()
    return await asyncio.to_thread(Path(saved).read_text, encoding="utf-8")


async def test_exports_hold_the_cue_the_verdict_and_every_dot(
    open_tab: OpenTab, demo: Owner, tmp_path: Path
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    trace = json.loads(await exported(tab, "Trace (JSON)"))
    assert trace["cue"] == HUSBAND
    svg = await exported(tab, "Picture (SVG)")
    version = demo.get("/healthz").json()["version"]
    for text in (HUSBAND, "I remember", f"Ecphoria {version}", "a session, its first turn on top"):
        assert text in svg
    assert set(re.findall(r'data-node="(\w+)"', svg)) == {node["id"] for node in trace["nodes"]}
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Picture (PNG)").click()
    made = tmp_path / "picture.png"
    await (await download.value).save_as(made)
    await tab.page.goto(made.as_uri())
    assert await tab.page.evaluate("document.images[0].naturalWidth") == 2_000


async def test_a_large_graph_is_drawn_once_a_step(open_tab: OpenTab, demo: Owner) -> None:
    nodes = [
        {
            "id": f"{n:032x}", "kind": "episode", "label": f"Mara: turn {n}", "speaker": "Mara",
            "session": f"s{n // 40}", "ordinal": n % 40, "state": "live",
            "occurred_at": f"2025-{1 + n // 200:02}-{1 + n // 40 % 5:02}T10:00:00Z",
        }
        for n in range(2_000)
    ]  # fmt: skip
    arcs = [
        {"tail": f"{n % 2_000:032x}", "head": f"{(n * 7 + 1) % 2_000:032x}", "edge": "NEXT",
         "weight": 0.5, "energy": 1 / (n + 1)}
        for n in range(4_000)
    ]  # fmt: skip
    wave = {
        "number": 1,
        "active": 2_000,
        "energy": 1.0,
        "arcs": arcs,
        "arcs_left_out": 0,
        "marks": [],
    }
    trace = recalled(demo, HUSBAND)["trace"]
    made = trace | {"nodes": nodes, "waves": [wave], "hits": [], "seeds": []}
    tab = await open_tab(demo.key)

    async def answer(route: Any) -> None:
        await route.fulfill(json=made)

    await tab.page.route("**/v1/traces/*", answer)
    await tab.open("ask", trace="1" * 32)
    await tab.answered()
    draws = "document.querySelector('canvas').dataset.draws"
    await tab.page.wait_for_timeout(500)
    before = int(await tab.page.evaluate(draws))
    await tab.page.locator(".step").nth(0).click()
    await tab.page.locator(".step").nth(2).click()
    await tab.page.wait_for_function("document.querySelector('canvas').dataset.step === '2'")
    await tab.page.wait_for_timeout(500)
    assert int(await tab.page.evaluate(draws)) == before + 2
    assert len(await tab.lit()) == len({arc["head"] for arc in arcs})
    assert await tab.page.locator(".twin tbody tr").count() == 2_000
