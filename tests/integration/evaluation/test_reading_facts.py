"""`eval facts` with a model that reads the true facts: they work as facts that are sent.

`ECPHORIA_TEST_KEYS=200` runs it on as many changing facts as the published figures.
"""

import json
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from ecphoria.client import AsyncClient
from ecphoria.records.answered import adapter
from ecphoria.records.episode import Statement
from ecphoria.settings import JobsSettings, LlmSettings
from ecphoria_eval.datasets.changing import make_stream
from ecphoria_eval.facts import measure_facts
from tests.acceptance.conftest import RunningService, running, settings_for
from tests.chat_endpoint import chat_endpoint, fenced
from tests.conftest import Server

KEYS = int(os.environ.get("ECPHORIA_TEST_KEYS", "20"))  # noqa: TID251
SEED = 3 if KEYS < 200 else 1


@cache
def truth() -> dict[str, dict[str, Any]]:
    """Give the fact of each text; a rumour states none."""
    found: dict[str, dict[str, Any]] = {}
    for episode in make_stream(KEYS, SEED).episodes.values():
        for fact in episode.extraction.facts if episode.extraction else ():
            if fact.reliability is None:
                found[episode.text] = adapter(Statement).dump_python(fact, mode="json")
    return found


def reads_the_truth(text: str) -> str:
    known = truth()
    facts = []
    for number, line in fenced(text).items():
        said = line.partition(": ")[2]
        if fact := known.get(said):
            days = {name: (fact[name] or "")[:10] for name in ("valid_from", "valid_to")}
            told = {name: fact[name] for name in ("subject", "predicate", "object")}
            facts.append(
                {"turn": number, **told, **days, "qualifier": "", "negated": False, "quote": said}
            )
    return json.dumps({"names": [], "facts": facts})


@pytest.fixture(scope="module")
def service(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    with chat_endpoint() as model:
        model.says = reads_the_truth
        llm = LlmSettings(model="scripted", base_url=model.url)
        jobs = JobsSettings(workers=1, schedule_s=60)
        home = tmp_path_factory.mktemp("home")
        with running(settings_for(neo4j_server, home, jobs=jobs, llm=llm)) as made:
            yield made


async def test_true_facts_that_a_model_reads_work_as_facts_that_are_sent(
    service: RunningService, capsys: pytest.CaptureFixture[str]
) -> None:
    def connect(tenant: str | None) -> AsyncClient:
        return AsyncClient(service.url, service.key, tenant=tenant, timeout=120)

    report = await measure_facts(
        connect, lambda *_: None, name="reading", keys=KEYS, seed=SEED, model="scripted"
    )
    assert report.read is not None
    with capsys.disabled():
        print(f"\nstale: {report.words.stale:.3f} by words, {report.read.stale:.3f} read, "  # noqa: T201
              f"{report.stated.stale:.3f} sent")  # fmt: skip
    assert report.words.stale > 0.3
    assert report.read.stale <= report.stated.stale + 1 / KEYS
    assert report.read.found >= report.words.found
