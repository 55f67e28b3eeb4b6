"""What an operator looks at: health, figures, errors, files for Neo4j Browser, the API page."""

import re
from collections.abc import Iterator

import httpx
import pytest

from ecphoria.wire.base import error_classes
from tests.acceptance.answers import figure
from tests.acceptance.conftest import Owner, RunningService


@pytest.fixture
def anyone(server: RunningService) -> Iterator[httpx.Client]:
    """A caller without a key."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def test_health_and_readiness_need_no_key(anyone: httpx.Client) -> None:
    assert anyone.get("/healthz").json()["status"] == "alive"
    assert anyone.head("/healthz").status_code == anyone.head("/readyz").status_code == 200
    ready = anyone.get("/readyz").json()
    assert ready["dimension"] == 384
    assert ready["status"] == ("ready" if ready.get("gds") else "degraded")
    assert bool(ready["degraded"]) == (ready["status"] == "degraded")


def test_a_browser_is_led_to_the_explorer_and_others_get_json(anyone: httpx.Client) -> None:
    told = anyone.get("/").json()
    assert (told["service"], told["docs"]) == ("Ecphoria", "/docs")
    for place in ("explorer", "docs", "openapi", "ready"):
        assert anyone.get(told[place]).status_code == 200
    page = anyone.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["Location"]) == (303, "/explorer")
    assert page.headers["Vary"] == "Accept"


def test_every_operation_is_summed_up_in_words(anyone: httpx.Client) -> None:
    for path, operations in anyone.get("/openapi.json").json()["paths"].items():
        for method, operation in operations.items():
            summary, told = operation["summary"], operation["description"]
            assert len(summary.split()) > 1, (method, path)
            assert told.startswith(summary), (method, path)


def test_metrics_count_what_happens(anyone: httpx.Client, owner: Owner) -> None:
    before = anyone.get("/metrics").text
    owner.remember("one")
    owner.recalled("one")
    owner.post("/v1/recall", json={})
    owner.get("/no-such/path")
    after = anyone.get("/metrics").text

    def grown(name: str, **labels: str) -> float:
        return figure(after, name, **labels) - figure(before, name, **labels)

    assert grown("ecphoria_episodes_total", outcome="created") == 1
    assert grown("ecphoria_recalls_total", strategy="ecphoria") >= 1
    assert grown("ecphoria_refusals_total", code="invalid-input") == 1
    assert grown("ecphoria_request_seconds_count", route="/v1/recall", status="422") == 1
    assert grown("ecphoria_request_seconds_count", route="(no such path)", status="404") == 1
    assert grown("ecphoria_query_seconds_count", query="recall.load_lexicon") >= 1
    assert grown("ecphoria_recall_phase_seconds_count", phase="total") >= 1
    assert owner.name not in after
    assert "no-such" not in after


@pytest.mark.parametrize("code", sorted(cls.code for cls in error_classes()))
def test_every_error_type_leads_to_its_page(anyone: httpx.Client, code: str) -> None:
    page = anyone.get(f"/errors/{code}").json()
    assert page["code"] == code
    assert page["remedy"]


def test_files_for_neo4j_browser_are_served(anyone: httpx.Client) -> None:
    listed = anyone.get("/v1/browser").json()["items"]
    assert any(each["name"].endswith(".grass") for each in listed)
    assert sum(each["name"].endswith(".cypher") for each in listed) >= 5
    for each in listed:
        assert each["doc"]
        assert "{" not in each["doc"]
        served = anyone.get(each["href"])
        assert served.status_code == 200
        assert served.headers["Access-Control-Allow-Origin"] == "*"
        assert served.text.strip()


@pytest.mark.parametrize(
    "name", ["..%2f..%2fpyproject.toml", "%2e%2e/README.md", "nothing.cypher", "%00", ""]
)
def test_no_other_file_is_served(anyone: httpx.Client, name: str) -> None:
    assert anyone.get(f"/browser-guide/{name}").status_code == 404


def test_the_api_page_works_without_a_network(anyone: httpx.Client) -> None:
    page = anyone.get("/docs")
    assert page.status_code == 200
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(parts) >= 4
    assert "'unsafe-inline'" not in page.headers["Content-Security-Policy"].split("style-src")[0]
    assert re.findall(r"<script(?! src)|onload|javascript:", page.text) == []
    for part in parts:
        assert part.startswith("/"), part
        assert anyone.get(part).status_code == 200, part
