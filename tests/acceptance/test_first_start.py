"""A first start with nothing set: a local Neo4j, a key of one's own, and a clean end."""

import stat
from contextlib import ExitStack
from pathlib import Path

import httpx

from ecphoria.app import engine_settings
from ecphoria.engine import Engine, EngineState
from ecphoria.settings import ServerSettings, Settings
from tests.acceptance.conftest import running
from tests.conftest import CACHE, SMALL_ENGINE


def test_a_first_start_leaves_a_key_a_second_finds_it_good_a_third_replaces_a_strangers(
    tmp_path: Path,
) -> None:
    settings = Settings(
        home=tmp_path / "home", cache=CACHE, engine=SMALL_ENGINE, server=ServerSettings(port=0)
    )
    key_file = settings.home / "admin.key"
    engine = Engine(engine_settings(settings))
    with ExitStack() as using:
        with running(settings) as service:
            assert service.started.services.admin_key_file == key_file
            assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
            key = key_file.read_text().strip()
            headers = {"Authorization": f"Bearer {key}", "Ecphoria-Tenant": "default"}
            with httpx.Client(base_url=service.url, headers=headers, timeout=60) as client:
                made = client.post("/v1/episodes", json={"text": "The kettle is green."})
                assert made.status_code == 201, made.text
            using.enter_context(engine.running())  # the Neo4j of the first serves all three

        with running(settings) as service:
            assert service.started.services.admin_key_file is None
            assert key_file.read_text().strip() == key
            with httpx.Client(base_url=service.url, headers=headers, timeout=60) as client:
                told = client.post("/v1/recall", json={"cue": "What colour is the kettle?"}).json()
                assert told["hits"][0]["episode"]["text"] == "The kettle is green."

        other = "eck_0badcafe_of_another_store"
        key_file.write_text(other + "\n")
        with running(settings) as service:
            assert service.started.services.admin_key_file == key_file
            assert (settings.home / "admin.eck_0badcafe.key").read_text().strip() == other
            headers["Authorization"] = f"Bearer {key_file.read_text().strip()}"
            with httpx.Client(base_url=service.url, headers=headers, timeout=60) as client:
                assert client.get("/v1/stats").status_code == 200
        assert engine.status().state is EngineState.RUNNING
    assert engine.status().state is EngineState.STOPPED
