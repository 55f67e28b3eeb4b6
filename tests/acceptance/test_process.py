"""The service as a process of its own: settings from the environment, keys, log, death."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.acceptance.conftest import Owner, new_owner
from tests.acceptance.process import KEY, PROGRAM, child, operator_of
from tests.acceptance.writers import Writers, require_once
from tests.conftest import Server


def test_no_memory_text_and_no_secret_is_logged(neo4j_server: Server, tmp_path: Path) -> None:
    with child(neo4j_server, tmp_path) as service:
        with operator_of(service) as operator, new_owner(operator) as owner:
            owner.remember("The password is xylophone.", speaker="Quillfeather", session="velvet")
            owner.recalled("Who is xylophone?")
            owner.post("/v1/recall", json={"cue": "xylophone", "strategy": "xylophone"})
            owner.post("/v1/episodes", json={"text": "xylophone", "vector": [1.0]})
            owner.post("/v1/episodes", content=b'{"text": "xylophone')
            owner.texts(session="xylophone")
            key = owner.key
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(timeout=30) in {0, -signal.SIGTERM}
        lines = service.log.read_text()
    for hidden in ("xylophone", "Quillfeather", "velvet", key, KEY, neo4j_server.password):
        assert hidden not in lines
    events = [json.loads(line) for line in lines.splitlines()]
    served = [event for event in events if event["event"] == "request_served"]
    assert len(served) >= 8
    assert all(event["request_id"] for event in served)
    assert any(re.fullmatch(r"[0-9a-f]{32}", event.get("tenant_id", "")) for event in served)


def test_what_was_acknowledged_outlives_a_kill_of_the_service(
    neo4j_server: Server, tmp_path: Path
) -> None:
    with (
        child(neo4j_server, tmp_path) as first,
        operator_of(first) as operator,
        new_owner(operator, erase=False) as owner,
    ):
        writers = Writers(owner, 2)
        try:
            writers.wait_for(30)
            first.process.kill()
            writers.wait_for_a_refusal()
        finally:
            writers.stop()
    with child(neo4j_server, tmp_path) as second, operator_of(second) as operator:
        with Owner(second.url, owner.name, owner.key) as again:
            require_once(again, writers)
        assert operator.delete(f"/v1/tenants/{owner.name}").status_code == 200


def test_a_key_revoked_by_another_process_ends_within_its_trust(
    neo4j_server: Server, tmp_path: Path
) -> None:
    with (
        child(neo4j_server, tmp_path) as here,
        child(neo4j_server, tmp_path, ECPHORIA_TEST_AUTH__CACHE_S="1") as there,
        operator_of(here) as operator,
        new_owner(operator) as owner,
    ):
        headers = {"Authorization": f"Bearer {owner.key}"}
        assert httpx.get(f"{there.url}/v1/stats", headers=headers, timeout=60).status_code == 200
        (key,) = owner.get("/v1/keys").json()["items"]
        assert owner.delete(f"/v1/keys/{key['id']}").status_code == 204
        time.sleep(1.1)
        assert httpx.get(f"{there.url}/v1/stats", headers=headers, timeout=60).status_code == 401


def test_without_auth_a_caller_needs_no_key(neo4j_server: Server, tmp_path: Path) -> None:
    with child(
        neo4j_server, tmp_path, ECPHORIA_AUTH__ENABLED="false", ECPHORIA_AUTH__BOOTSTRAP_KEY=""
    ) as service:
        assert "127.0.0.1" in service.url
        assert httpx.get(f"{service.url}/v1/sessions", timeout=60).status_code == 200
    assert not (tmp_path / "admin.key").exists()


def test_a_second_signal_ends_the_wait_for_open_requests(
    neo4j_server: Server, tmp_path: Path
) -> None:
    with child(neo4j_server, tmp_path, ECPHORIA_SERVER__SHUTDOWN_S="600") as service:
        address = httpx.URL(service.url)
        assert address.port is not None
        begun = (
            f"POST /v1/episodes HTTP/1.1\r\nHost: {address.netloc.decode()}\r\n"
            f"Authorization: Bearer {KEY}\r\nEcphoria-Tenant: default\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        with socket.create_connection((address.host, address.port)) as half_sent:
            half_sent.sendall(begun.encode())
            with operator_of(service) as operator:
                assert operator.get("/v1/tenants").status_code == 200
            service.process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                service.process.wait(timeout=2)
            service.process.send_signal(signal.SIGTERM)
            service.process.wait(timeout=60)


def test_what_cannot_be_set_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "ECPHORIA_HOME": str(tmp_path), "ECPHORIA_NEO4J__URL": "bolt://x"},  # noqa: TID251
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert "ECPHORIA_NEO4J__URL" in done.stderr
    assert "ECPHORIA_NEO4J__URI" in done.stderr
