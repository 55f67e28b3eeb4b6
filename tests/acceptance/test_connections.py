"""What surrounds a request: slow senders, security headers, TLS."""

import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from ecphoria.settings import ServerSettings
from ecphoria.telemetry import configure_logging
from tests.acceptance.conftest import Owner, RunningService, problem, running, settings_for
from tests.conftest import Server


@pytest.fixture(scope="module")
def impatient(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service that waits half a second for headers and for a body."""
    server = ServerSettings(port=0, headers_s=0.5, body_s=0.5)
    home = tmp_path_factory.mktemp("home")
    with running(settings_for(neo4j_server, home, server=server)) as service:
        yield service


def ended(service: RunningService, sent: bytes) -> bytes:
    """Send this, then nothing, and read until the service closes the connection."""
    address = httpx.URL(service.url)
    with socket.create_connection((address.host, address.port or 0), timeout=20) as connection:
        connection.sendall(sent)
        read = b""
        while part := connection.recv(65_536):
            read += part
    return read


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n",
    ],
    ids=["nothing", "half a header", "half a second header"],
)
def test_a_connection_without_a_whole_request_is_closed(
    impatient: RunningService, sent: bytes
) -> None:
    read = ended(impatient, sent)
    assert read.count(b"HTTP/1.1 200") == sent.count(b"\r\n\r\n")


def test_a_body_that_does_not_arrive_is_given_up(impatient: RunningService) -> None:
    read = ended(
        impatient,
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + impatient.key.encode() + b"\r\nEcphoria-Tenant: default\r\n"
        b'Content-Length: 50\r\nConnection: close\r\n\r\n{"cue": ',
    )
    assert b"HTTP/1.1 504" in read
    assert b"did not arrive" in read


@pytest.mark.parametrize(
    "sent",
    [
        b"no request at all\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nno header\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX:".ljust(65_537, b"x"),
    ],
    ids=["first line", "header", "long header"],
)
def test_what_is_no_http_is_answered_with_a_problem(
    impatient: RunningService, sent: bytes
) -> None:
    head, _, body = ended(impatient, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in head.lower()
    assert json.loads(body)["status"] == 400
    with httpx.Client(base_url=impatient.url, timeout=60) as client:
        assert client.get("/healthz").status_code == 200


def test_a_slow_request_is_not_taken_for_a_silent_connection(impatient: RunningService) -> None:
    with httpx.Client(base_url=impatient.url, timeout=60) as client:
        for _ in range(3):
            assert client.get("/healthz").status_code == 200
            time.sleep(0.3)


def test_an_idle_connection_outlives_the_pools_of_clients(impatient: RunningService) -> None:
    """A client that keeps a connection 5 s must not meet its end; uvicorn's own bound is 5 s."""
    kept = httpx.Limits(max_connections=1, keepalive_expiry=60.0)
    with httpx.Client(base_url=impatient.url, limits=kept, timeout=60) as client:
        streams = set()
        for pause_s in (6.0, 0.0):
            answer = client.get("/healthz")
            streams.add(answer.extensions["network_stream"].get_extra_info("client_addr"))
            time.sleep(pause_s)
    assert len(streams) == 1


def test_every_answer_has_the_headers_that_keep_browsers_in_check(server: RunningService) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for path in ("/healthz", "/openapi.json", "/v1/episodes", "/nowhere", "/docs"):
            headers = client.get(path).headers
            assert headers["X-Content-Type-Options"] == "nosniff", path
            assert "default-src 'none'" in headers["Content-Security-Policy"], path
            assert headers["X-Frame-Options"] == "DENY", path
            assert "Strict-Transport-Security" not in headers, path
        assert client.get("/v1/episodes").headers["Cache-Control"] == "no-store"


def test_it_serves_tls(neo4j_server: Server, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    settings = ServerSettings(port=0, tls_certificate=certificate, tls_key=key)
    with running(settings_for(neo4j_server, tmp_path / "home", server=settings)) as service:
        assert service.url.startswith("https://")
        with httpx.Client(base_url=service.url, verify=trusted, timeout=60) as client:
            answer = client.get("/healthz")
            assert answer.status_code == 200
            assert "max-age" in answer.headers["Strict-Transport-Security"]
            problem(client.get("/v1/stats"), 401, "unauthenticated")
        with (
            httpx.Client(base_url=service.url.replace("https", "http")) as plain,
            pytest.raises(httpx.TransportError),
        ):
            plain.get("/healthz")


@pytest.mark.parametrize(
    ("call", "is_known", "status"),
    [
        ("POST /v1/recall", True, 413),
        ("PATCH /v1/settings", True, 413),
        ("POST /v1/episodes", False, 401),
        ("POST /nowhere", True, 413),
    ],
)
@pytest.mark.parametrize("size", [300_000, 8_000_000])
def test_a_client_that_sends_all_before_it_reads_sees_the_refusal(
    server: RunningService, call: str, is_known: bool, status: int, size: int
) -> None:
    method, path = call.split()
    request = urllib.request.Request(  # noqa: S310 (an address of this test)
        server.url + path,
        data=b'{"cue": "' + b"a" * size + b'"}',
        method=method,
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Bearer {server.key if is_known else 'nobody'}",
        },
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)  # noqa: S310 (the same)
    with refused.value as answer:
        assert answer.code == status
        assert json.load(answer)["status"] == status


@pytest.mark.parametrize("sent", [b"", b'{"cue": "half'], ids=["no body yet", "half a body"])
def test_a_client_that_goes_away_is_no_fault(
    server: RunningService, capsys: pytest.CaptureFixture[str], sent: bytes
) -> None:
    configure_logging("info", "json")
    address = httpx.URL(server.url)
    head = (
        f"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.key}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    )
    with socket.create_connection((address.host, address.port or 0)) as connection:
        connection.sendall(head.encode() + sent)
    said, events = "", list[dict[str, Any]]()
    for _ in range(300):
        said += capsys.readouterr().err
        told = [json.loads(line) for line in said.splitlines() if "request_id" in line]
        gone = {one["request_id"] for one in told if one["event"] == "client_disconnected"}
        # The service may still log requests of an earlier test.
        events = [one for one in told if one["request_id"] in gone]
        if len(events) > 1:
            break
        time.sleep(0.1)
    configure_logging("warning", "json")
    assert [event["event"] for event in events] == ["client_disconnected", "request_served"]
    assert events[1]["status"] == 499


def test_names_and_facts_of_an_episode_may_be_as_large_as_an_append(owner: Owner) -> None:
    episode = owner.remember("Ana lives in Lisbon.")
    names = [f"name {place} {'x' * 200}" for place in range(1_000)]
    facts = [
        {"subject": f"name {place} {'x' * 200}", "predicate": "likes", "object": "y" * 200}
        for place in range(1_000)
    ]
    answer = owner.put(
        f"/v1/episodes/{episode}/extraction", json={"names": names, "facts": facts}, timeout=300
    )
    assert answer.status_code == 204, answer.text


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/stats", "/mcp", "/nowhere"])
def test_no_route_answers_a_page_that_rebinds_its_name(server: RunningService, path: str) -> None:
    answer = httpx.get(server.url + path, headers={"Host": "evil.example"}, timeout=60)
    problem(answer, 421, "unknown-host")


def test_a_request_without_a_host_is_refused(server: RunningService) -> None:
    address = httpx.URL(server.url)
    with socket.create_connection((address.host, address.port or 0), timeout=20) as connection:
        connection.sendall(b"GET /v1/stats HTTP/1.0\r\n\r\n")
        assert b" 421 " in connection.recv(65_536).splitlines()[0]
