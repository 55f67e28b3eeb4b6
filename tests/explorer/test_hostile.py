"""Texts and names that anybody may have written do nothing but stand there."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Owner
from tests.explorer.conftest import OpenTab

TEXTS = (
    'otters <img src=x onerror="window.pwned=1"> <script>window.pwned=1</script>',
    'otters <svg onload="window.pwned=1"><a href="javascript:window.pwned=1">x</a></svg>',
    "otters <template><script>window.pwned=1</script></template></textarea></pre></title>",
    "otters \u202etfel ot thgir\u202c and \u200bhidden\u2066 marks \U000e0041",
    "otters \u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \U0001f9a6\u200d\U0001f30a",
    "otters ${window.pwned=1} {{window.pwned=1}} `window.pwned=1` %3Cscript%3E",
    "otters " + "x" * 100_000,
    "=cmd|' /C calc'!A0 otters",
)  # fmt: skip
TABS = ("ask", "misses", "context", "gate")
PLACES = {
    "traces": ".traces tbody tr",
    "concept": ".finder li",
    "timeline": ".turns li",
    "review": "#contradictions .pair",
    "forgetting": ".memories li",
}
"""Screens, and what stands there when they are read."""


@pytest.fixture
def hostile(fresh: Owner) -> Owner:
    """The owner of a tenant that is full of such texts."""
    fresh.put("/v1/predicates/is owned by", json={"predicate_class": "immutable"})
    for n, text in enumerate(TEXTS):
        fresh.remember(
            text,
            speaker="<i>Eve</i>\u202e",
            session="<b>x</b>" if n % 2 else "s" * 200,
            extraction={
                "names": ["<img src=x onerror=window.pwned=1>", "Otter\u202e Club"],
                "facts": [
                    {
                        "subject": "<b>Otter</b>",
                        "predicate": "is owned by",
                        "object": f"<i>Eve {n}</i>",
                    }
                ],
            },
        )
    fresh.post("/v1/recall", json={"cue": "<script>window.pwned=1</script> otters \u202e"})
    return fresh


@pytest.mark.parametrize("width", [1_400, 390])
async def test_nothing_of_a_memory_runs_or_becomes_an_element(
    open_tab: OpenTab, hostile: Owner, width: int
) -> None:
    if width == 390:
        crowd = [f"Otter no. {n} <b>\u202e" for n in range(1_000)]
        names = {"names": crowd}
        hostile.remember("otters " + " ".join(crowd), session="crowd", extraction=names)
    tab = await open_tab(hostile.key, viewport={"width": width, "height": 844})
    page = tab.page
    for place in (*TABS, *PLACES):
        if place in PLACES:
            await tab.open(place, by="session", bucket="<b>x</b>")
            await page.wait_for_selector(PLACES[place])
        else:
            await tab.ask("otters", strategy="ppr", tab=place)
            await tab.lit()
        if place == "concept":
            await page.locator(".finder li a").first.click()
            await page.wait_for_selector(".about .clock")
        assert await page.evaluate("window.pwned") is None
        made = (
            "main img, main script, main iframe, main template, main i i, main textarea, main b b"
        )
        assert await page.locator(made).count() == 0, place
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, place
    assert tab.faults == []


async def test_a_mark_that_turns_the_text_is_a_box(open_tab: OpenTab, hostile: Owner) -> None:
    tab = await open_tab(hostile.key)
    await tab.ask("otters")
    boxes = tab.page.locator(".words .boxed[data-code='U+202E']")
    assert await boxes.count() == 1
    shown = "box => getComputedStyle(box, '::before').content"
    assert await boxes.first.evaluate(shown) == '"U+202E"'
    assert await boxes.first.evaluate("box => getComputedStyle(box).unicodeBidi") == "isolate"
    assert await tab.page.locator(".words .boxed[data-code='U+E0041']").count() == 1
    texts = await tab.texts(".words bdi")
    assert any(text == TEXTS[3] for text in texts)  # a copy has the true characters
    assert await tab.page.locator(".who .boxed").count() > 0


async def test_a_text_is_cut_between_characters(open_tab: OpenTab, fresh: Owner) -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"  # one character
    fresh.remember("otters " + "\U0001f9a6" * 400, session="\U0001f9a6" * 20)
    fresh.remember("otters " + "a" * 590 + family * 50)
    tab = await open_tab(fresh.key)
    await tab.ask("otters")
    shown = {text.strip("\u2026")[-5:] for text in await tab.texts(".words bdi")}
    assert shown == {"\U0001f9a6" * 5, "a" * 5}
    assert {*await tab.texts(".words .link")} == {
        "Show all 407 characters",
        f"Show all {len('otters ' + 'a' * 590 + family * 50)} characters",
    }
    await tab.page.click(".export summary")
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Picture (SVG)").click()
    saved = await (await download.value).path()
    svg = await asyncio.to_thread(Path(saved).read_text, encoding="utf-8")
    assert "\U0001f9a6" in svg
    assert "\ufffd" not in svg  # half a character
    await tab.open("timeline", by="session")
    await tab.page.wait_for_selector(".strip a")
    assert "\U0001f9a6" * 5 + "\u2026" in await tab.texts(".strip small")


async def test_a_picture_of_it_is_inert(open_tab: OpenTab, hostile: Owner, tmp_path: Path) -> None:
    tab = await open_tab(hostile.key)
    await tab.ask("<script>window.pwned=1</script> otters \u202e", strategy="ppr")
    await tab.page.click(".export summary")
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Picture (SVG)").click()
    await download.value
    async with tab.page.expect_download() as written:
        await tab.page.get_by_role("button", name="Trace (JSON)").click()
    saved = await (await written.value).path()
    trace = json.loads(await asyncio.to_thread(Path(saved).read_text, encoding="utf-8"))
    assert trace["cue"] == "<script>window.pwned=1</script> otters \u202e"
    made = tmp_path / "picture.svg"
    await (await download.value).save_as(made)
    assert "\u202e" not in made.read_text(encoding="utf-8")
    await tab.page.goto(made.as_uri())
    assert await tab.page.evaluate("window.pwned") is None
    assert (
        await tab.page.evaluate("document.querySelectorAll('script, image, foreignObject').length")
        == 0
    )
