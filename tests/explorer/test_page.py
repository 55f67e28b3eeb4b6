"""The files of the page: what they weigh, what they may do, and that everybody can use them."""

import gzip
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from ecphoria.client import Client
from ecphoria.recall import echoes, outdated, rerank
from ecphoria.records.episode import State
from ecphoria.records.fact import MergeStatus, Ruling, Standing
from ecphoria.records.recall import Verdict
from ecphoria.records.settings import DormancyMode
from ecphoria.records.tenant import EVIDENCE_NAMES
from ecphoria.records.traced import GateKind, Stream
from scripts import vendor_explorer
from tests.acceptance.conftest import Owner
from tests.explorer.conftest import HUSBAND, OpenTab, Tab

FILES = sorted(path for path in vendor_explorer.PAGE.rglob("*") if path.is_file())


async def test_markup_made_of_text_is_refused(open_tab: OpenTab) -> None:
    tab = await open_tab()
    refused = (
        "() => { try { document.body.innerHTML = '<i>x</i>'; } catch (e) { return e.name; } }"
    )
    assert await tab.page.evaluate(refused) == "TypeError"


async def test_a_browser_without_javascript_is_told(open_tab: OpenTab) -> None:
    tab = await open_tab(java_script_enabled=False)
    assert "This page needs JavaScript" in await tab.page.inner_text("noscript")


def test_the_code_never_makes_markup_of_text() -> None:
    for path in FILES:
        if path.suffix == ".js" and path.name != "vendor.js":
            code = path.read_text(encoding="utf-8")
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", code
            ), path


def test_the_vendored_module_is_the_one_of_the_lock() -> None:
    assert vendor_explorer.changed(vendor_explorer.PAGE) == []


def test_the_page_is_small() -> None:
    shipped = [path for path in FILES if path.suffix in {".js", ".css", ".html", ".svg"}]
    assert compressed(shipped) <= 80_000
    assert len(shipped) <= 30
    # The sentences of words.js are no code; a bound on them would only pack them in long lines.
    others = {"vendor.js", "words.js"}
    code = [path for path in shipped if path.suffix == ".js" and path.name not in others]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in code) <= 3_000


def compressed(paths: Iterable[Path]) -> int:
    """The size of the files as a server may send them, in bytes."""
    return sum(len(gzip.compress(path.read_bytes())) for path in paths)


async def test_the_first_screen_loads_only_what_it_needs(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    read = "performance.getEntriesByType('resource').map(each => new URL(each.name).pathname)"
    names = {str(name).removeprefix("/explorer/") for name in await tab.page.evaluate(read)}
    first = [path for path in FILES if path.relative_to(vendor_explorer.PAGE).as_posix() in names]
    assert len(first) >= 15
    assert compressed([*first, vendor_explorer.PAGE / "index.html"]) <= 60_000
    assert len(first) + 1 <= 25


def test_the_files_are_in_what_the_wheel_takes() -> None:
    # A build would fetch its backend. It takes every file of the package that git does not ignore.
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    [package] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    ignored = (root / ".gitignore").read_text(encoding="utf-8").split()
    assert all(path.is_relative_to(root / package) for path in FILES)
    assert not [path for path in FILES for rule in ignored if path.match(rule.strip("/"))]
    assert {"index.html", "LICENSES.txt", "vendor.lock"} <= {path.name for path in FILES}


WORDS = """async () => {
  const { EVIDENCE, MERGES, PARTS, RULINGS, STANDINGS, STATES, STREAMS, SWITCHES, VERDICTS, W } =
    await import('/explorer/words.js');
  const of = (...tables) => tables.flatMap(Object.keys);
  return {
    verdicts: of(VERDICTS), streams: of(STREAMS), parts: of(PARTS), states: of(STATES),
    standings: of(STANDINGS), rulings: of(RULINGS), merges: of(MERGES), gates: of(W.gate.kinds),
    evidence: [...of(EVIDENCE), ...SWITCHES], modes: of(W.forgetting.modes),
  };
}"""
NAMES = {
    "verdicts": {*Verdict},
    "streams": {*Stream},
    "parts": {echoes.ECHO, echoes.REPEATED, outdated.CURRENT, outdated.NEWEST, rerank.READER},
    "states": {*State},
    "standings": {*Standing},
    "rulings": {*Ruling},
    "merges": {*MergeStatus},
    "gates": {*GateKind},
    "evidence": {*EVIDENCE_NAMES},
    "modes": {*DormancyMode},
}


PARTS_ON_REQUEST: dict[str, dict[str, str | float]] = {
    "actr": {"w_reliability": 0.1, "w_retrievability": 0.1}
}
"""Options that add parts to a score, by strategy; no preset sets them."""


def parts_of(owner: Owner) -> set[str]:
    """List the parts of the scores that the strategies give, with each preset."""
    with Client(str(owner.base_url), owner.key) as client:
        presets: list[tuple[str, dict[str, str | float]]] = [
            (each.name, {"preset": preset})
            for each in client.strategies()
            for preset in each.presets
        ]
        return {
            part
            for strategy, options in (*presets, *PARTS_ON_REQUEST.items())
            for hit in client.recall(
                HUSBAND, k=1, strategy=strategy, options=options, record=False
            ).hits
            for part in hit.parts
        }


async def test_the_page_has_words_for_every_name_of_the_api(
    open_tab: OpenTab, demo: Owner
) -> None:
    tab = await open_tab()
    told = await tab.page.evaluate(WORDS)
    names = NAMES | {"parts": NAMES["parts"] | parts_of(demo)}
    missing = {kind: names[kind] - {*told[kind]} for kind in names}
    assert {kind: names for kind, names in missing.items() if names} == {}


SCREENS = {
    "traces": ".empty, table",
    "timeline?by=day&bucket=2025-01-12": ".turns li",
    "concept?q=wedding": ".finder li a",
    "review": ".merge",
    "forgetting": ".memories li",
    "forgetting?list=erase": "#list form",
}


async def visit(tab: Tab, screen: str) -> None:
    """Open a screen; of the concepts, the first one."""
    name, _, chosen = screen.partition("?")
    await tab.open(name, **dict(part.split("=") for part in chosen.split("&") if part))
    await tab.page.wait_for_selector(SCREENS[screen])
    if name == "concept":
        await tab.page.locator(".finder li a").first.click()
        await tab.page.wait_for_selector(".about .fact")
        await tab.page.click(".about .twin summary")
        await tab.page.wait_for_selector(".about .twin tbody tr")
    await tab.page.wait_for_selector("main:not(:has(.skeleton))")


ALL_RULES = {"resultTypes": ["violations"]}
RULES_OF_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"], **ALL_RULES}


async def serious(tab: Tab) -> list[str]:
    """Look in both colour schemes, which have the same elements."""
    found = []
    for scheme, rules in (("dark", RULES_OF_COLOURS), ("light", ALL_RULES)):
        await tab.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        results = await Axe().run(tab.page, options=rules)
        found += [
            f"{scheme}: {each['id']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
            for each in results.response["violations"]
            if each["impact"] in {"serious", "critical"}
        ]
    return found


@pytest.mark.timeout(600)  # it looks at eleven screens twice, on a machine that has other work
@pytest.mark.parametrize("width", [1_400, 390])
async def test_no_serious_finding_of_axe(open_tab: OpenTab, studied: Owner, width: int) -> None:
    options = {"bypass_csp": True, "url": address_of(studied)}
    tab = await open_tab(viewport={"width": width, "height": 844}, **options)
    assert await serious(tab) == []
    await tab.sign_in(studied.key)
    await tab.ask(HUSBAND, compare="cls", step=2)
    await tab.lit()
    await tab.page.click("#hit-1 button[aria-pressed]")
    assert await serious(tab) == []
    for name in ("misses", "context", "gate"):
        await tab.page.click(f"#tab-{name}")
        assert await serious(tab) == []
    for screen in SCREENS:
        await visit(tab, screen)
        assert await serious(tab) == [], screen
        assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width, screen
    await tab.page.get_by_role("button", name="Keys").click()
    await tab.page.wait_for_selector("dialog[open]")
    assert await serious(tab) == []
    assert tab.faults == []


async def test_fingers_find_every_control(open_tab: OpenTab, studied: Owner) -> None:
    tab = await open_tab(
        studied.key, url=address_of(studied), viewport={"width": 390, "height": 844}
    )
    await tab.ask(HUSBAND, k=2)
    assert await tab.page.evaluate("document.querySelector('header').offsetHeight") <= 60
    small = await tab.page.evaluate(SMALL)
    for screen in SCREENS:
        await visit(tab, screen)
        small += await tab.page.evaluate(SMALL)
    assert small == []


SMALL = """[...document.querySelectorAll('button:not(.line), select, summary, nav a, input')]
  .filter(one => one.checkVisibility() && !['checkbox', 'range'].includes(one.type))
  .filter(one => one.getBoundingClientRect().height < 43.5)
  .map(one => `${location.hash} ${one.outerHTML.slice(0, 90)}`)"""
"""Controls that are lower than 44 pixels; lines of a context and links in a text may be."""
REACH = "button:not([tabindex='-1'], :disabled), a[href], input, select, summary"
FOCUSED = f'[...document.querySelectorAll("{REACH}")].indexOf(document.activeElement)'


async def test_every_control_is_reached_by_tab(open_tab: OpenTab, studied: Owner) -> None:
    tab = await open_tab(studied.key, url=address_of(studied))
    await tab.ask(HUSBAND, k=2)
    await reach_all(tab)
    for screen in SCREENS:
        await visit(tab, screen)
        await reach_all(tab)


async def reach_all(tab: Tab) -> None:
    """Press Tab until every control had the focus once."""
    wanted = await tab.page.locator(REACH).locator("visible=true").count()
    reached = set()
    await tab.page.evaluate("() => { scrollTo(0, 0); document.activeElement.blur(); }")
    await tab.page.locator("h1").click()
    for _ in range(wanted + 20):
        await tab.page.keyboard.press("Tab")
        reached.add(await tab.page.evaluate(FOCUSED))
        if len(reached - {-1}) == wanted:
            return
    pytest.fail(f"{tab.page.url}: {len(reached - {-1})} of {wanted} reached")


def address_of(owner: Owner) -> str:
    """The address of an owner's service."""
    return str(owner.base_url).rstrip("/")


@pytest.mark.parametrize("calm", [True, False])
async def test_a_recall_plays_unless_motion_is_unwanted(
    open_tab: OpenTab, demo: Owner, *, calm: bool
) -> None:
    tab = await open_tab(demo.key, reduced_motion="reduce" if calm else "no-preference")
    await tab.page.evaluate(NOTE_STEPS)
    await tab.page.fill("#cue", HUSBAND)
    await tab.page.press("#cue", "Enter")
    await tab.answered()
    every = await tab.texts(".step")
    wanted = ["hits"] if calm else every
    await tab.page.wait_for_function(
        "wanted => window.steps.slice(-wanted.length).join() === wanted.join()", arg=wanted
    )
    # Before it plays, the last step may be shown.
    assert await tab.page.evaluate("window.steps") in (wanted, ["hits", *every])
    assert tab.faults == []


NOTE_STEPS = """() => {
  window.steps = [];
  new MutationObserver(() => {
    const step = document.querySelector('.step[aria-current]')?.textContent;
    if (step && step !== window.steps.at(-1)) window.steps.push(step);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
"""Keep the name of each step that is shown; a slow reader would miss some."""


async def test_the_other_screens(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.open("concept", q="davor")
    await tab.page.click(".finder li a")
    await tab.page.wait_for_selector(".about .clock")
    assert "Davor" in await tab.page.inner_text(".about h2")
    listed = demo.get("/v1/episodes", params={"concept": "Davor", "limit": 100}).json()["items"]
    await expect(tab.page.locator(".memories li")).to_have_count(len(listed))
    await tab.open("traces", verdict="verify")
    await tab.page.wait_for_selector(".empty, table")
    assert tab.faults == []


async def test_each_screen_has_a_title(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    for name in ("Traces", "Timeline", "Ask"):
        await tab.page.get_by_role("link", name=name, exact=True).click()
        await expect(tab.page).to_have_title(f"{name} · Ecphoria explorer")


async def test_an_export_waits_for_the_service(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    await tab.ask(HUSBAND)
    await tab.page.click(".export summary")
    await tab.page.route("**/healthz", lambda route: route.abort())
    await tab.page.get_by_role("button", name="Picture (PNG)").click()
    await tab.page.wait_for_selector(".banner")
    async with tab.page.expect_download():
        await tab.page.unroute("**/healthz")
    await tab.page.wait_for_selector(".banner", state="detached")


async def test_the_form_shows_the_strategy_of_the_link(open_tab: OpenTab, demo: Owner) -> None:
    tab = await open_tab(demo.key)
    for strategy in ("cls", ""):
        await tab.ask(HUSBAND, strategy=strategy)
        await expect(tab.page.locator("select[name=strategy]")).to_have_value(strategy)
