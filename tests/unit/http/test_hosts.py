"""The names under which a service answers."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from starlette.responses import Response

from ecphoria.http.middleware import HostCheck, RequestEdge
from ecphoria.settings import ServerSettings
from ecphoria.telemetry import Metrics, Spans

LOCAL = ["localhost", "LocalHost", "localhost.", "127.0.0.1", "127.1.2.3", "[::1]"]
FOREIGN = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example#localhost",
    "localhost@evil.example",
    "notlocalhost",
    "192.168.7.9",
    "[2001:db8::7]",
    "localhost:80:80",
    "[::1",
    "..",
    "",
]


async def status(host: str, settings: ServerSettings, path: str = "/") -> int:
    checked = HostCheck(Response("ours"), settings=settings)
    edge = RequestEdge(checked, metrics=Metrics(CollectorRegistry()), spans=Spans())
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(edge), base_url="http://localhost"
    ) as client:
        answer = await client.get(path, headers={"Host": host})
    if answer.status_code != 200:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["type"] == "/errors/unknown-host"
        assert "ECPHORIA_SERVER__PUBLIC_HOST" in answer.json()["detail"]
    return answer.status_code


@pytest.mark.parametrize("port", ["", ":8765", ":1"])
@pytest.mark.parametrize("host", LOCAL)
async def test_names_of_this_machine_are_served_on_any_port(host: str, port: str) -> None:
    assert await status(host + port, ServerSettings()) == 200


@pytest.mark.parametrize("bound", ["127.0.0.1", "::1", "localhost"])
@pytest.mark.parametrize("host", FOREIGN)
async def test_other_names_are_refused(host: str, bound: str) -> None:
    assert await status(host, ServerSettings(host=bound)) == 421


@pytest.mark.parametrize(
    ("bound", "public", "host", "expected"),
    [
        ("0.0.0.0", None, "192.168.7.9:8765", 200),  # noqa: S104 (no socket is bound)
        ("::", None, "[2001:db8::7]:8765", 200),
        ("0.0.0.0", None, "memory.example.org", 421),  # noqa: S104 (the same)
        ("127.0.0.1", "memory.example.org", "Memory.Example.org.:443", 200),
        ("127.0.0.1", "a.example, b.example:8443", "b.example", 200),
        ("127.0.0.1", "a.example, b.example:8443", "a.example:80", 200),
        ("127.0.0.1", "a.example", "b.a.example", 421),
        ("127.0.0.1", "a.example", "localhost", 200),
        ("192.168.7.9", None, "192.168.7.9:8765", 200),
        ("192.168.7.9", None, "192.168.7.8", 421),
        ("2001:db8::7", None, "[2001:DB8::7]:8765", 200),
        ("memory.internal", None, "memory.internal", 200),
    ],
)
async def test_names_of_the_settings_are_served(
    bound: str, public: str | None, host: str, expected: int
) -> None:
    assert await status(host, ServerSettings(host=bound, public_host=public)) == expected


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_is_told_under_any_name(path: str) -> None:
    """A proxy asks without a host, and Kubernetes by the address of the container."""
    for host in FOREIGN:
        assert await status(host, ServerSettings(), path) == 200


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30))
async def test_no_other_text_is_taken_for_a_name_of_ours(host: str) -> None:
    name = host.strip().lower().rpartition(":")[0] or host.strip().lower()
    local = name.removesuffix(".") in {"localhost", "[::1]"} or name.startswith("127.")
    assert local or await status(host, ServerSettings()) == 421
