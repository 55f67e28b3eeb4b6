"""Draw the pictures of the README and of the docs: the explorer on the memory of the demo.

`python -m scripts.draw_explorer` remembers the demo in a store of its own, or in the one of
`ECPHORIA_NEO4J__URI`, and opens the explorer in Chromium: dark and light, wide and narrow. The
page itself writes the picture of the README; the screens are photographed.
"""

import asyncio
import io
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Final
from urllib.parse import quote

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from ecphoria.cli.serve import remember, running
from ecphoria.cli.terminal import stdout
from ecphoria.client import AsyncClient
from ecphoria.client.defaults import explorer_address
from ecphoria.demo.sample import sample_questions
from ecphoria.errors import Conflict
from ecphoria.settings import read_settings

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
QUESTION: Final = sample_questions()[0].question
SCREENS: Final = (
    ("ask", f"cue={quote(QUESTION)}", ".hit"),
    ("traces", "", "table.traces"),
    ("timeline", "", "main h1"),
    ("concept", "q=ines", ".finder li a", ".about .clock"),
    ("review", "", "main h1"),
    ("forgetting", "", "main h1"),
)
"""Name of each screen, its address, and the elements to wait for; all but the last are clicked."""
SCHEMES: Final = ("light", "dark")
WIDTHS: Final = {"wide": (1_200, 800), "narrow": (390, 780)}
_TENANT: Final = "demo"
_COLOURS: Final = 48
_SETTLED_MS: Final = 500
_PATIENCE_MS: Final = 60_000
_TIMEOUT_S: Final = 600.0
_BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first needs a third of the processor's time of the others, as it draws no window."""


def browser_here() -> str:
    """Find the Chromium of this machine.

    Raises:
        FileNotFoundError: There is none.
    """
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        raise FileNotFoundError(
            "The explorer needs a browser: apt-get install chromium-headless-shell"
        )
    return found


@asynccontextmanager
async def opened(browser: Browser, address: str, scheme: str, width: str) -> AsyncIterator[Page]:
    """Open the explorer by an address with a ticket.

    Args:
        browser: Chromium.
        address: Of `explorer_address`.
        scheme: One of `SCHEMES`.
        width: One of `WIDTHS`.
    """
    wide, high = WIDTHS[width]
    context = await browser.new_context(
        viewport={"width": wide, "height": high},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(_PATIENCE_MS)
    page = await context.new_page()
    await page.goto(address)
    await page.wait_for_selector("header")
    yield page
    await context.close()


async def draw_recall(page: Page) -> str:
    """Let the page write the recall of `QUESTION` as an SVG file."""
    await show(page, "ask", f"cue={quote(QUESTION)}", ["canvas[data-draws]"])
    await page.click(".export summary")
    async with page.expect_download() as download:
        await page.click(".export button >> nth=1")
    saved = await (await download.value).path()
    return await asyncio.to_thread(Path(saved).read_text, encoding="utf-8")


async def show(page: Page, name: str, query: str, elements: Sequence[str]) -> None:
    """Open a screen and wait for its elements; all but the last are clicked."""
    await page.evaluate("address => { location.hash = address; }", f"#/{name}?{query}")
    *clicked, last = elements
    for element in clicked:
        await page.locator(element).first.click()
    await page.wait_for_selector(last)
    await page.wait_for_selector(".skeleton", state="detached")
    await page.evaluate("scrollTo(0, 0)")
    await page.wait_for_timeout(_SETTLED_MS)


async def _draw(page: Page, look: str) -> None:
    (IMAGES / f"recall-{look}.svg").write_text(await draw_recall(page), encoding="utf-8")
    for name, query, *elements in SCREENS:
        await show(page, name, query, elements)
        photo = Image.open(io.BytesIO(await page.screenshot())).convert("RGB")
        small = photo.quantize(_COLOURS, dither=Image.Dither.NONE)
        small.save(IMAGES / "explorer" / f"{name}-{look}.png", optimize=True)
    print(look)


async def main() -> None:
    """Remember the demo and draw everything."""
    with tempfile.TemporaryDirectory() as home:
        key = f"draw-{secrets.token_urlsafe(32)}"
        settings = read_settings(
            home=Path(home), server={"port": 0}, log={"level": "critical"},
            auth={"bootstrap_key": key},
        )  # fmt: skip
        async with running(settings) as service, async_playwright() as playwright:
            url = service.started.url
            async with AsyncClient(url, key, tenant=_TENANT, timeout=_TIMEOUT_S) as client:
                with suppress(Conflict):
                    await client.admin.create_tenant(_TENANT)
                await remember(stdout(), client)
                for question in sample_questions():
                    await client.recall(question.question)
                browser = await playwright.chromium.launch(
                    executable_path=browser_here(), args=["--no-sandbox"]
                )
                (IMAGES / "explorer").mkdir(exist_ok=True)
                for scheme, width in product(SCHEMES, WIDTHS):
                    ticket = (await client.admin.explorer_ticket(write=True)).ticket
                    address = explorer_address(url, ticket)
                    async with opened(browser, address, scheme, width) as page:
                        await _draw(page, f"{scheme}-{width}")
                await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
