"""Ask: the picture, the score and the words agree with the API."""

import asyncio
import json
import re
from base64 import b64encode
from collections import Counter
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import pytest
from playwright.async_api import Route, expect

from ecphoria.client import Client
from ecphoria.demo.sample import sample_questions
from tests.acceptance.conftest import Owner, RunningService, new_owner
from tests.conftest import Server
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
    values = await first.locator(".part").evaluate_all("all => all.map(one => one.dataset.value)")
    shown = [f"{float(value):.3f}" for value in values]
    assert shown == await first.locator(".part b").all_text_contents()
    # Parts below 0.0005 are not shown.
    assert sum(map(float, values)) == pytest.approx(
        float(await first.locator(".score").inner_text()), abs=0.001
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


async def bold(tab: Tab) -> set[str]:
    """Read from the drawing which nodes are marked as a path."""
    svg = await exported(tab, "Picture (SVG)")
    return set(re.findall(r'stroke-width="2.5"[^>]*data-node="(\w+)"', svg))


def on_path(hit: dict[str, Any]) -> set[str]:
    return {hit["episode"]["id"], *(step["node"] for step in hit["path"])}


async def test_a_click_and_the_keys_choose_a_hit_and_show_its_path(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    hits = recalled(demo, HUSBAND)["hits"]
    await tab.page.locator("#hit-3 button[aria-pressed]").first.click()
    assert await chosen_hit(tab) == hits[2]["episode"]["id"]
    assert len(await tab.texts(".hit.chosen .path li")) == len(hits[2]["path"])
    assert await bold(tab) == on_path(hits[2])
    await tab.page.locator("h1").click()
    for key, rank in (("j", 4), ("k", 3), ("k", 2)):
        await tab.page.keyboard.press(key)
        await tab.page.wait_for_selector(f"#hit-{rank}.chosen")
    assert await bold(tab) == on_path(hits[1])
    await tab.page.locator("h1").click()
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_selector(".hit.chosen", state="detached")
    assert await bold(tab) == set()
    await tab.page.locator("h1").click()
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_selector("#hit-1.chosen")


async def test_a_click_on_a_dot_of_the_picture_chooses_its_hit(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    svg = await exported(tab, "Picture (SVG)")
    dots = r'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*data-node="(\w+)" data-state="(\w+)"'
    found = re.findall(dots, svg)
    canvas = tab.page.locator(".picture canvas")
    box = await canvas.bounding_box()
    assert box
    hit = next(dot for dot in found if dot[3] == "hit")
    for dot in (max(found, key=lambda dot: float(dot[1])), hit):
        # The file has the same layout on 1,000 by 460 pixels, below a head of 58.
        x = 14 + (float(dot[0]) - 14) * (box["width"] - 28) / (1_000 - 28)
        y = 52 + (float(dot[1]) - 58 - 52) * (box["height"] - 78) / (460 - 78)
        await canvas.click(position={"x": x, "y": y})
        tip = await tab.page.locator(".tip").bounding_box()
        assert tip
        assert tip["y"] + tip["height"] <= box["y"] + box["height"]
    assert await chosen_hit(tab) == hit[2]


async def test_an_unanswerable_question_says_so_with_reasons(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(TICK)
    asked = recalled(demo, TICK)
    assert await tab.texts(".verdict strong") == ["I don't know"]
    assert await tab.texts(".reasons li") == asked["reasons"]
    assert len(asked["reasons"]) == 4
    assert not re.search("I (think I )?remember", await tab.page.inner_text("main"))
    assert await tab.page.locator(".answer, .verify").count() == 0
    await tab.page.click("#tab-misses")
    texts = await tab.texts(".misses li bdi")
    assert texts == [miss["text"] for miss in asked["misses"]] != []
    scores = await tab.texts(".misses li .score")
    assert scores == [f"{miss['score']:.3f}" for miss in asked["misses"]]


async def test_looking_changes_nothing_and_recording_is_a_choice(
    open_tab: OpenTab, working: RunningService
) -> None:
    with working.operator() as caller, new_owner(caller) as learner:
        assert learner.patch("/v1/settings", json={"learning": {"on": True}}).status_code == 200
        otters = learner.remember("Mara Holm feeds the otters at noon.", session="pier")
        before = learner.get("/v1/stats").json()
        tab = await open_tab(learner.key, url=working.url)
        for _ in range(2):
            await tab.page.fill("#cue", "When are the otters fed?")
            await tab.page.press("#cue", "Enter")
            await tab.answered()
        assert learner.get("/v1/stats").json() == before
        await tab.page.click(".more summary")
        await tab.page.check("input[name=record]")
        await tab.page.click("form.cue button.main")
        await tab.answered()
        # Only what was recorded is learned: one recall of three.
        with Client(working.url, learner.key, timeout=120) as client:
            await asyncio.to_thread(client.consolidate, timeout_s=600)
        after = learner.get("/v1/stats").json()
        assert after["traces"] == before["traces"] + 1
        assert after["recalls_learned"] == before["recalls_learned"] + 1
        assert learner.get(f"/v1/episodes/{otters}").json()["uses"] == 1
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
    for move, cue in ((other.page.go_back, HUSBAND), (other.page.go_forward, TICK)) * 2:
        await move()
        await other.page.wait_for_function(
            "cue => document.querySelector('#cue').value === cue", arg=cue
        )
        await other.answered()
        assert await other.page.locator("#hit-2.chosen").count() == (cue == HUSBAND)


async def test_a_hit_without_a_speaker_has_its_role(open_tab: OpenTab, fresh: Owner) -> None:
    fresh.remember("The otters are fed at noon.", role="user", session="pier")
    fresh.remember("Then feed the otters herring.", role="assistant", session="pier")
    tab = await open_tab(fresh.key)
    await tab.ask("Who feeds the otters?")
    assert {*await tab.page.locator(".hit .who").all_inner_texts()} == {"user", "assistant"}


async def test_a_link_to_a_trace_and_to_one_that_is_gone(
    open_tab: OpenTab, fresh: Owner, neo4j_server: Server
) -> None:
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
    # Nothing erases one trace; the service drops old ones by itself.
    auth = (neo4j_server.user, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        driver.execute_query("MATCH (t:Trace {id: $id}) DETACH DELETE t", id=answer["trace_id"])
    await tab.open("ask", trace=answer["trace_id"])
    await tab.page.wait_for_selector(".problem[data-status='404']")
    assert "erased or dropped" in await tab.page.inner_text(".problem")


async def test_a_trace_is_asked_again_with_all_its_filters(
    open_tab: OpenTab, fresh: Owner
) -> None:
    for role in ("user", "assistant"):
        fresh.remember(f"The otters of the {role} eat fish.", role=role)
    fresh.remember("In the fact of the user otters eat fish.", role="user", kind="semantic")
    fresh.remember("The otters of the user sleep.", role="user")
    filters = {"role": "user", "kind": "episodic", "occurred_from": "2020-02-03T04:05:06Z"}
    options = {"match": "all", "include_dormant": True}
    body = {"cue": "What do the otters eat?", "filters": filters} | options
    asked = fresh.post("/v1/recall", json=body)
    assert len(asked.json()["hits"]) == 1
    trace = fresh.get(f"/v1/traces/{asked.json()['trace_id']}").json()
    assert {name: trace[name] for name in options} == options
    assert trace["filters"]["kind"] == "episodic"
    tab = await open_tab(fresh.key)
    await tab.open("ask", trace=asked.json()["trace_id"])
    await tab.answered()
    # The default strategy has its name in the trace.
    await expect(tab.page.locator("select[name=strategy] option:checked")).to_contain_text(
        "default"
    )
    await tab.page.click(".recorded button")
    await tab.page.wait_for_selector(".since")
    assert len(await tab.texts(".hit")) == 1
    assert await tab.page.input_value("input[name=from]") == "2020-02-03"
    assert await tab.page.input_value("select[name=match]") == "all"
    assert await tab.page.is_checked("input[name=dormant]")
    assert await tab.page.locator(".more[open]").count() == 1
    async with tab.page.expect_request("**/v1/recall") as sent:
        await tab.open("ask", trace=trace["id"], compare="dense")
    compared = (await sent.value).post_data_json or {}
    assert compared["filters"]["kind"] == "episodic"
    assert compared["match"] == "all"
    assert tab.faults == []


async def test_a_field_that_is_refused_is_shown(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.open("ask", cue="Who is Davor?", k=500)
    await tab.page.wait_for_selector(".problem[data-status='422']")
    await tab.page.click(".more summary")
    await tab.page.wait_for_selector(".more:not([open])")
    await tab.page.press("#cue", "Enter")
    await tab.page.wait_for_selector(".more[open] input[name=k]:focus")


async def test_a_link_may_hold_a_plain_question_mark(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.page.evaluate("location.hash = '#/ask?cue=Who is Davor?&k=3'")
    await tab.answered()
    assert await tab.page.input_value("#cue") == "Who is Davor?"
    assert len(await tab.texts(".hit")) == 3


async def test_a_recall_that_ends_behind_another_screen_leaves_it_alone(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab(demo.key, reduced_motion="no-preference")
    left = asyncio.Event()

    async def late(route: Route) -> None:
        await left.wait()
        await route.continue_()

    await tab.page.route("**/v1/recall", late)
    await tab.page.fill("#cue", HUSBAND)
    await tab.page.press("#cue", "Enter")
    await tab.page.wait_for_selector(".skeleton")
    await tab.page.get_by_role("link", name="Review").click()
    async with tab.page.expect_response("**/v1/recall") as answer:
        left.set()
    await (await answer.value).finished()
    await tab.page.wait_for_selector("#decisions .empty")
    assert tab.page.url.endswith("#/review")
    await tab.page.go_back()
    await tab.answered()


async def test_a_link_to_erased_memories_and_what_changed_since(
    open_tab: OpenTab, fresh: Owner
) -> None:
    texts = ("Mara Holm feeds the otters at noon.", "Mara feeds the otters fish at noon.")
    ids = [fresh.remember(text, speaker="Davor", session="pier") for text in texts]
    cue = {"cue": "What do the otters eat at noon?", "strategy": "synapse"}
    answer = fresh.post("/v1/recall", json=cue).json()
    ranks = {hit["episode"]["id"]: hit["rank"] for hit in answer["hits"]}
    assert set(ranks) == set(ids)
    gone = answer["hits"][0]["episode"]["id"]
    assert fresh.delete(f"/v1/episodes/{gone}").status_code == 204
    new = fresh.remember("The otters eat fish at noon, all of them.", session="pier")
    tab = await open_tab(fresh.key)
    await tab.open("ask", trace=answer["trace_id"], hit=gone)
    await tab.answered()
    first = tab.page.locator(".hit.chosen")
    assert await first.get_attribute("data-hit") == gone
    assert "erased" in await first.inner_text()
    assert await first.locator(".write").count() == 0
    await tab.lit()
    assert await tab.page.locator(f"tr[data-node='{gone}'] .name").inner_text() == "erased"
    assert answer["hits"][0]["episode"]["text"] not in await tab.page.content()
    await tab.page.click(".recorded button")
    await tab.page.wait_for_selector(".since")
    assert "1 of its hits is not here any more" in await tab.page.inner_text(".since")
    now = recalled(fresh, cue["cue"], strategy="synapse")["hits"]
    assert new in [hit["episode"]["id"] for hit in now]
    for hit in now:
        was = ranks.get(hit["episode"]["id"], 0)
        told = [f"was hit {was}" if was else "was no hit"] if was != hit["rank"] else []
        remarks = await tab.texts(f"#hit-{hit['rank']} h3 .remark")
        assert [text for text in remarks if text.startswith("was")] == told
    assert tab.faults == []


async def test_two_strategies_stand_on_the_same_columns(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    columns = await tab.page.get_attribute(".picture canvas", "data-columns")
    await tab.page.select_option(".compare select", "cls")
    await tab.page.wait_for_selector(".ranks")
    await tab.page.wait_for_selector(f".picture canvas[data-columns='{columns}']")
    svg = await exported(tab, "Picture (SVG)")
    places = re.findall(r'data-node="(\w+)"', svg)
    both = [
        {hit["episode"]["id"] for hit in recalled(demo, HUSBAND, strategy=name)["hits"]}
        for name in ("ecphoria", "cls")
    ]
    shared = both[0] & both[1]
    assert all(places.count(node) >= 2 for node in shared)
    dots = re.findall(r'<circle cx="([\d.]+)"[^>]*data-node="(\w+)"', svg)
    assert all(len({x for x, node in dots if node == each}) == 1 for each in shared)
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
    for place, reference in enumerate(asked["references"]):
        await tab.page.click("#tab-context")
        await lines.nth(place).click()
        rank = reference["follows"] or reference["number"]
        hit = await tab.page.locator(f"#hit-{rank}.chosen").get_attribute("data-hit")
        assert hit == reference["episode"] or reference["follows"]


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
    await tab.ask(HUSBAND, strategy="synapse")
    trace = json.loads(await exported(tab, "Trace (JSON)"))
    assert trace["cue"] == HUSBAND
    await tab.lit()
    rows = await tab.texts(".twin tbody td:nth-child(5)")
    states = Counter(row.split(";")[0] for row in rows)
    files = {}
    for kind in ("SVG", "PNG"):
        async with tab.page.expect_download() as download:
            await tab.page.get_by_role("button", name=f"Picture ({kind})").click()
        files[kind] = tmp_path / f"picture.{kind.lower()}"
        await (await download.value).save_as(files[kind])
    viewer = await tab.page.context.new_page()
    await viewer.goto(files["SVG"].as_uri())
    version = demo.get("/healthz").json()["version"]
    said = " ".join(await viewer.locator("text, title, desc").all_text_contents())
    verdict = await tab.page.inner_text(".verdict strong")
    for text in (HUSBAND, verdict, f"Ecphoria {version}", "a session, its first turn on top"):
        assert text in said
    drawn = await viewer.evaluate(
        "[...document.querySelectorAll('[data-node]')].map(e => [e.dataset.node, e.dataset.state])"
    )
    shown = dict(drawn)
    assert set(shown) == {node["id"] for node in trace["nodes"]}
    names = {"dark": "not awake yet"}
    assert Counter(names.get(state, state) for state in shown.values()) == states
    await viewer.goto(files["PNG"].as_uri())
    assert await viewer.evaluate("document.images[0].naturalWidth") == 2_000
    # Nobody searches for words in pixels, so the two files are compared as they look.
    urls = [
        f"data:image/{kind};base64,{b64encode(files[name].read_bytes()).decode()}"
        for name, kind in (("SVG", "svg+xml"), ("PNG", "png"))
    ]
    await viewer.goto("about:blank")
    one, other = (np.array(pixels, dtype=float) for pixels in await viewer.evaluate(LOOKS, urls))
    assert np.corrcoef(one, other)[0, 1] > 0.9
    assert np.corrcoef(one, other[::-1])[0, 1] < 0.5


LOOKS = """urls => Promise.all(urls.map(async url => {
  const image = Object.assign(new Image(), { src: url });
  await image.decode();
  const [width, height] = [250, Math.round(250 * image.naturalHeight / image.naturalWidth)];
  const ctx = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
  ctx.drawImage(image, 0, 0, width, height);
  return [...ctx.getImageData(0, 0, width, height).data.filter((_, place) => place % 4 === 1)];
}))"""
"""Grey levels of images, made small."""
PAINTED = """() => {
  const canvas = document.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, place) => place % 4 === 3 && value > 0).length / (data.length / 4);
}"""
"""Share of a canvas that is not transparent."""
BARE = """async () => {
  const { paint, shapesOf } = await import('/explorer/parts/paint.js');
  const { columnsOf, storyOf } = await import('/explorer/parts/scene.js');
  const { palette } = await import('/explorer/parts/theme.js');
  const trace = await (await fetch('/v1/traces/' + '1'.repeat(32))).json();
  const stories = [storyOf(trace)];
  const [width, height] = [760, 400];
  const scene = {
    stories, columns: columnsOf(stories, []), width, height, steps: [2], chosen: null,
    colour: palette(),
  };
  const ctx = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
  const ends = () => ctx.getImageData(0, 0, 1, 1);
  const nodes = Array.from({ length: 2000 }, (_, n) => [14 + (n * 37) % 730, 60 + (n * 53) % 320]);
  const bare = () => {
    ctx.lineWidth = 1;
    for (let n = 0; n < 4000; n += 1) {
      const [a, b] = [nodes[n % 2000], nodes[(n * 7 + 1) % 2000]];
      ctx.globalAlpha = 0.9;
      ctx.strokeStyle = '#e58e3c';
      ctx.beginPath();
      ctx.moveTo(...a);
      ctx.quadraticCurveTo((a[0] + b[0]) / 2 + 40, (a[1] + b[1]) / 2, ...b);
      ctx.stroke();
    }
    for (const [x, y] of nodes) {
      ctx.beginPath();
      ctx.arc(x, y, 4, 0, 2 * Math.PI);
      ctx.fill();
      ctx.stroke();
    }
    ends();
  };
  const ours = () => { paint(ctx, shapesOf(scene).shapes); ends(); };
  const seconds = (act) => {
    const begun = performance.now();
    act();
    return performance.now() - begun;
  };
  ours();
  bare();
  return Array.from({ length: 7 }, () => [seconds(ours), seconds(bare)]);
}"""
"""Times of our drawing, and of a bare loop that draws as many dots and curves, in turns."""


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
    assert await tab.page.evaluate(PAINTED) > 0.2
    # Other work on the machine makes a time longer, never shorter. Alone the ratio is below 2.
    timed = await tab.page.evaluate(BARE)
    ours, bare = map(min, zip(*timed, strict=True))
    assert ours / bare <= 3, timed
