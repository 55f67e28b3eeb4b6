"""The picture of the README: its text is that of a recall of this build."""

import re
from collections.abc import Iterator
from itertools import product

import httpx
import pytest
from playwright.async_api import Browser
from rich.console import Console

from ecphoria.cli.serve import remember
from ecphoria.client import AsyncClient
from ecphoria.client.defaults import explorer_address
from ecphoria.settings import JobsSettings
from scripts.draw_explorer import IMAGES, QUESTION, SCHEMES, WIDTHS, draw_recall, opened
from tests.acceptance.conftest import NO_TLS, Owner, new_owner, running, settings_for
from tests.conftest import Server

LARGEST = 60_000
README = IMAGES.parents[1] / "README.md"


@pytest.fixture
def told(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """The owner of an empty tenant, in a service that consolidates."""
    home = tmp_path_factory.mktemp("home")
    with running(settings_for(neo4j_server, home, jobs=JobsSettings(workers=1))) as service:
        headers = {"Authorization": f"Bearer {service.key}"}
        with (
            httpx.Client(
                base_url=service.url, headers=headers, timeout=120, verify=NO_TLS
            ) as operator,
            new_owner(operator) as made,
        ):
            yield made


def words(svg: str) -> list[str]:
    """The texts of a picture, sorted, without the version and the day on which it was drawn."""
    texts = re.findall("<text[^>]*>([^<]*)</text>", svg)
    return sorted(re.sub(r"Ecphoria \S+|\d{4}-\d\d-\d\d", "", text) for text in texts)


async def test_the_picture_of_the_readme_shows_a_recall_of_this_build(
    browser: Browser, told: Owner
) -> None:
    url = str(told.base_url)
    async with AsyncClient(url, told.key, timeout=600) as client:
        await remember(Console(quiet=True), client)
        answer = await client.recall(QUESTION, record=False)
        for width in WIDTHS:
            ticket = (await client.admin.explorer_ticket()).ticket
            async with opened(browser, explorer_address(url, ticket), "light", width) as page:
                drawn = await draw_recall(page)
            kept = (IMAGES / f"recall-light-{width}.svg").read_text(encoding="utf-8")
            assert words(drawn) == words(kept), "python -m scripts.draw_explorer draws it anew"
            assert any(f"confidence {answer.confidence:.2f}" in text for text in words(kept))
            first = answer.hits[0]
            assert any(
                f"1 {first.score:.3f} {first.episode.speaker}" in text for text in words(kept)
            )


def test_every_look_has_the_same_words_and_is_small() -> None:
    for scheme, width in product(SCHEMES, WIDTHS):
        path = IMAGES / f"recall-{scheme}-{width}.svg"
        light = IMAGES / f"recall-light-{width}.svg"
        assert words(path.read_text(encoding="utf-8")) == words(light.read_text(encoding="utf-8"))
        assert path.stat().st_size <= LARGEST
        assert path.name in README.read_text(encoding="utf-8")
    for photo in (IMAGES / "explorer").iterdir():
        assert photo.stat().st_size <= LARGEST, photo
