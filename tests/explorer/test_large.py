"""A tenant of many memories: every screen opens, and no answer grows with the memory.

`ECPHORIA_TEST_MEMORIES=100000` makes a larger one.
"""

import os
from collections.abc import Iterator
from typing import Any

import neo4j
import pytest
from playwright.async_api import Response

from ecphoria.client import Client
from ecphoria.demo.sample import sample_conversation
from tests.acceptance.conftest import Owner, new_owner
from tests.conftest import Server
from tests.explorer.conftest import HUSBAND, OpenTab, Tab

TURNS = len(sample_conversation())
COPIES = int(os.environ.get("ECPHORIA_TEST_MEMORIES", "6000")) // TURNS  # noqa: TID251
BATCH = 5
"""Copies of the conversation in a transaction."""
LARGEST = 400_000
"""Bytes of an answer."""
MOST = 12
"""Requests of a screen."""
_COPY = """
MATCH (e:Episode {tenant: $tenant}) WHERE e.turn <= $turns
UNWIND range($from, $to) AS n
CREATE (c:Episode:LiveEpisode)
SET c = e {.*, id: replace(randomUUID(), '-', ''), turn: e.turn + n * $turns,
  idempotency_key: NULL, session: e.session + ' no. ' + n,
  text: e.text + ' This was no. ' + n + '.',
  occurred_at: e.occurred_at - duration({days: 40 * (n % 97)})}
WITH e, c, n
MERGE (s:Session {tenant: $tenant, name: c.session})
ON CREATE SET s.id = replace(randomUUID(), '-', ''), s.recorded_at = c.recorded_at
CREATE (c)-[:IN_SESSION {weight: 1.0, family: 'abstraction', created_at: c.recorded_at}]->(s)
WITH e, c
CALL (e, c) {
  MATCH (e)-[m:MENTIONS|SPOKEN_BY]->(other)
  FOREACH (_ IN CASE type(m) WHEN 'MENTIONS' THEN [1] ELSE [] END |
    CREATE (c)-[made:MENTIONS]->(other)
    SET made = properties(m), other.mentions = coalesce(other.mentions, 0) + 1)
  FOREACH (_ IN CASE type(m) WHEN 'SPOKEN_BY' THEN [1] ELSE [] END |
    CREATE (c)-[made:SPOKEN_BY]->(other) SET made = properties(m))
}
RETURN count(c)
"""
_COUNT = """
MATCH (t:Tenant {id: $tenant})
SET t.turn = t.turn * ($copies + 1), t.length = t.length * ($copies + 1)
"""


@pytest.fixture(scope="module")
def crowded(operator: Any, neo4j_server: Server) -> Iterator[Owner]:
    """The owner of many copies of the conversation, written past the service: no text is read."""
    with new_owner(operator, erase=False) as made:
        with Client(str(operator.base_url), made.key, timeout=120) as client:
            assert client.append_batch(sample_conversation()).created == TURNS
        auth = (neo4j_server.user, neo4j_server.password)
        with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
            told = driver.execute_query("MATCH (t:Tenant {name: $n}) RETURN t.id", n=made.name)
            one = {"tenant": told.records[0][0], "turns": TURNS}
            for start in range(1, COPIES + 1, BATCH):
                end = min(COPIES, start + BATCH - 1)
                driver.execute_query(_COPY, {**one, "from": start, "to": end})
            driver.execute_query(_COUNT, {**one, "copies": COPIES})
        yield made


@pytest.fixture
async def answered(open_tab: OpenTab, crowded: Owner) -> tuple[Tab, list[Response]]:
    """A tab, and the answers that it got."""
    tab = await open_tab(crowded.key)
    found: list[Response] = []
    tab.page.on("response", lambda answer: found.append(answer) if "/v1/" in answer.url else None)
    return tab, found


async def largest(answers: list[Response]) -> int:
    """The size of the largest answer, in bytes."""
    return max([len(await answer.body()) for answer in answers])


SCREENS = [
    ("ask", {"cue": HUSBAND, "strategy": "ppr"}, "#hit-1"),
    ("timeline", {}, ".strip a"),
    ("timeline", {"by": "session"}, ".strip a[data-bucket*=' no. ']"),
    ("concept", {}, ".finder li"),
    ("review", {}, "#decisions .empty"),
    ("forgetting", {}, ".memories li"),
    ("forgetting", {"list": "dormant"}, ".lists a[aria-current]:text-is('Dormant')"),
]


async def test_every_screen_opens_with_few_and_small_answers(
    answered: tuple[Tab, list[Response]], crowded: Owner
) -> None:
    tab, answers = answered
    stored = crowded.get("/v1/stats").json()["episodes"]
    assert stored == TURNS * (COPIES + 1)
    for screen, query, ready in SCREENS:
        answers.clear()
        await tab.open(screen, **query)
        await tab.page.wait_for_selector(ready)
        await tab.page.wait_for_selector("main:not(:has(.skeleton))")
        assert 0 < len(answers) <= MOST, (screen, answers)
        assert await largest(answers) <= LARGEST, screen
        assert await tab.page.locator("main *").count() < 20_000, screen
    await tab.ask(HUSBAND)
    shown = await tab.texts(".legend span")
    many = len(crowded.get("/v1/sessions", params={"limit": 1_000}).json()["items"]) == 1_000
    assert any("have a column" in text for text in shown) == many
    assert tab.faults == []


async def test_it_can_be_read_to_its_end_a_page_at_a_time(
    answered: tuple[Tab, list[Response]], crowded: Owner
) -> None:
    tab, answers = answered
    concept = crowded.get("/v1/concepts", params={"limit": 1}).json()["items"][0]
    await tab.open("concept", id=concept["id"])
    await tab.page.wait_for_selector(".about .clock")
    nodes = int(await tab.page.get_attribute(".clock", "data-nodes") or 0)
    assert nodes <= 200
    assert f"The {nodes} strongest of" in await tab.page.inner_text("figcaption")
    await tab.page.wait_for_selector(".about .memories li")
    for page in (1, 2):
        assert await tab.page.locator(".about .memories li").count() == 50 * page
        await tab.page.get_by_role("button", name="Show more").click()
        await tab.page.wait_for_function(
            "n => document.querySelectorAll('.about .memories li').length > n", arg=50 * page
        )
    await tab.open("timeline", by="month")
    await tab.page.wait_for_selector(".strip a")
    bars = await tab.page.eval_on_selector_all(
        ".strip a", "bars => bars.map(bar => Number(bar.dataset.count))"
    )
    assert sum(bars) == crowded.get("/v1/stats").json()["episodes"]
    await tab.page.locator(".strip a").first.click()
    await tab.page.wait_for_selector(".turns li")
    assert await largest(answers) <= LARGEST
    assert tab.faults == []
