"""A running service changes its embedding model: old vectors before the switch, new ones after."""

import json
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecphoria.errors import EmbedderMismatch
from ecphoria.settings import EmbedderSettings, JobsSettings, Neo4jSettings, Settings
from tests.acceptance.conftest import (
    Owner,
    RunningService,
    new_owner,
    problem,
    running,
    settings_for,
)
from tests.conftest import Server, emptied
from tests.embedding_endpoint import EmbeddingEndpoint, embedding_endpoint

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1_200)]

MODEL = "projected"
CUES = ("How did the neighbours disturb Tobias?", "Who is ill?")
MANY = "use-multilingual-v3"
GERMAN = (
    "Der Schl\u00fcssel liegt unter dem Blumentopf.",
    "Die Steuern sind im Mai f\u00e4llig.",
    "Wir haben ein Boot gekauft, und es ist schon da.",
    "Meine Schwester spielt im Orchester die Geige.",
    "Der Hund vom Nachbarn bellt in der Nacht.",
)
LATE = "The lamp in the tower is a paraffin lamp."


@pytest.fixture
def store(changing_server: Server) -> Server:
    """A Neo4j that no service has used."""
    return emptied(changing_server)


@pytest.fixture
def endpoint() -> Iterator[EmbeddingEndpoint]:
    with embedding_endpoint() as made:
        yield made


def turns(count: int) -> list[dict[str, Any]]:
    """Take turns from the sample conversation."""
    text = resources.files("ecphoria.demo").joinpath("data/conversation.jsonl").read_text()
    names = ("text", "speaker", "session", "occurred_at", "position")
    return [{name: json.loads(line)[name] for name in names} for line in text.splitlines()[:count]]


def ranked(owner: Owner) -> list[list[str]]:
    return [owner.recalled(cue, strategy="dense", k=5) for cue in CUES]


def reasons_of(owner: Owner, cue: str) -> str:
    answer = owner.post("/v1/recall", json={"cue": cue})
    assert answer.status_code == 200, answer.text
    return " ".join(answer.json()["reasons"])


def state(operator: httpx.Client) -> str:
    answer = operator.get("/v1/embedding")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["state"])


def settings_of(store: Server, folder: Path) -> Settings:
    # The first queries of a new server are slow on a busy machine.
    given = Neo4jSettings(
        uri=store.uri, user=store.user, password=store.password, query_timeout_s=120
    )
    jobs = JobsSettings(poll_s=0.05, schedule_s=60, pause_s=0.1, lease_s=5)
    return settings_for(store, folder, neo4j=given, jobs=jobs)


def wait_until_done(operator: httpx.Client) -> None:
    deadline = time.monotonic() + 300
    while state(operator) != "done":
        assert time.monotonic() < deadline
        time.sleep(0.1)


def calling(service: RunningService) -> httpx.Client:
    headers = {"Authorization": f"Bearer {service.key}"}
    return httpx.Client(base_url=service.url, headers=headers, timeout=300)


def test_a_service_recalls_by_the_old_model_until_it_has_switched_and_then_by_the_new_one(
    store: Server, endpoint: EmbeddingEndpoint, tmp_path: Path
) -> None:
    settings = settings_of(store, tmp_path)
    wanted = {"model": MODEL, "dimension": 256, "base_url": endpoint.url}
    said = turns(30)
    with (
        running(settings) as service,
        calling(service) as operator,
        new_owner(operator, erase=False) as owner,
        new_owner(operator, erase=False) as other,
    ):
        for one in (owner, other):
            one.timeout = httpx.Timeout(300)
        assert owner.post("/v1/episodes/batch", json={"episodes": said}).status_code == 200
        other.remember("A life of its own.")
        before = ranked(owner)
        problem(owner.post("/v1/embedding", json=wanted), 403, "forbidden")
        wrong = operator.post("/v1/embedding", json={**wanted, "dimension": 3})
        assert "256" in problem(wrong, 422, "invalid-input")["detail"]
        assert ranked(owner) == before

        endpoint.pause_s = 1.0
        assert operator.post("/v1/embedding", json=wanted).status_code == 202
        other.remember(LATE)
        looks = 0
        while state(operator) == "filling":
            found = ranked(owner)
            if state(operator) == "filling":
                assert found == before
                looks += 1
        assert looks
        endpoint.pause_s = 0.0
        after = ranked(owner)
        assert after != before
        assert other.recalled("Which lamp burns in the tower?", strategy="dense")[0] == LATE
        other.remember("After the switch.")
        wait_until_done(operator)
        assert ranked(owner) == after
        with new_owner(operator, erase=False) as fresh:
            # The same memories, with the new model from the start.
            fresh.timeout = httpx.Timeout(300)
            assert fresh.post("/v1/episodes/batch", json={"episodes": said}).status_code == 200
            assert ranked(fresh) == after
        ready = operator.get("/readyz").json()
        assert (ready["model"], ready["dimension"]) == (MODEL, 256)
    with pytest.raises(EmbedderMismatch, match=MODEL), running(settings):
        pass


def test_a_store_of_another_language_is_told_of_the_multilingual_model_and_changes_to_it(
    store: Server, tmp_path: Path
) -> None:
    settings = settings_of(store, tmp_path)
    cue = "Where is the key?"
    with (
        running(settings) as service,
        calling(service) as operator,
        new_owner(operator, erase=False) as owner,
    ):
        owner.timeout = httpx.Timeout(300)
        for text in GERMAN:
            owner.remember(text)
        (warning,) = owner.get("/v1/doctor").json()["warnings"]
        assert warning.startswith("5 of 5 texts are in languages")
        reasons = reasons_of(owner, cue)
        assert "the cue is in English and the memories found are in German" in reasons
        assert f"ecphoria reembed --provider local --model {MANY}" in f"{warning} {reasons}"

        wanted = {"provider": "local", "model": MANY}
        assert operator.post("/v1/embedding", json=wanted).status_code == 202
        wait_until_done(operator)
        assert owner.recalled(cue, strategy="dense")[0] == GERMAN[0]
        assert owner.get("/v1/doctor").json()["warnings"] == []
        reasons = reasons_of(owner, cue)
        assert "only meaning, names and numbers can match" in reasons
    changed = settings.model_copy(update={"embedder": EmbedderSettings(model=MANY)})
    with (
        running(changed) as service,
        calling(service) as operator,
        new_owner(operator, erase=False) as owner,
    ):
        owner.timeout = httpx.Timeout(300)
        ready = operator.get("/readyz").json()
        assert (ready["model"], ready["dimension"]) == (MANY, 512)
        for text in GERMAN:
            owner.remember(text)
        assert owner.recalled(cue, strategy="dense")[0] == GERMAN[0]
