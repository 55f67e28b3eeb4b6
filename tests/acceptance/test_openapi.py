"""The published description is true: its examples work, its answers are the ones given."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecphoria.settings import EmbedderSettings, JobsSettings, LlmSettings
from tests.acceptance.conftest import Owner, RunningService, new_owner, running, settings_for
from tests.chat_endpoint import chat_endpoint, obliging
from tests.conftest import Server

NEED_A_MODEL = {"/v1/ask", "/v1/ask/stream"}
"""This service has no language model; tests/acceptance/test_ask.py has one."""


@pytest.fixture(scope="module")
def document(server: RunningService) -> dict[str, Any]:
    """The published description."""
    found: dict[str, Any] = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    return found


def bodies(document: dict[str, Any]) -> list[tuple[str, str, list[Any]]]:
    """Every operation with a body, and the examples of that body."""
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                schema = schema.get("anyOf", [schema])[0]  # an optional body is this or null
                name = schema["$ref"].rpartition("/")[2]
                examples = document["components"]["schemas"][name].get("examples", [])
                found.append((method, path, examples))
    return found


def test_no_path_takes_a_parameter_that_it_does_not_have(
    document: dict[str, Any], operator: httpx.Client, owner: Owner
) -> None:
    open_to_all = {"/v1/browser"}
    paths = [path for path in document["paths"] if path.startswith("/v1/")]
    asked = 0
    for path in sorted(set(paths) - open_to_all):
        for method in document["paths"][path]:
            caller = operator if path.startswith(("/v1/tenants", "/v1/keys")) else owner
            answer = caller.request(
                method, re.sub(r"{\w+}", "x", path), params={"spelt_wrong": "1"}, json={}
            )
            assert answer.status_code in {403, 422}, (method, path, answer.text)
            if answer.status_code == 422:
                assert "query:spelt_wrong" in answer.text, (method, path, answer.text)
                asked += 1
    assert asked > 40


def test_every_example_of_a_body_works(
    document: dict[str, Any], owner: Owner, operator: httpx.Client
) -> None:
    owner.remember("something to recall")
    tried = 0
    for method, path, examples in bodies(document):
        assert examples, path
        for example in examples:
            who = operator if path in {"/v1/tenants", "/v1/embedding"} else owner
            answer = who.request(method, path, json=example)
            of_something = "{" in path or path == "/v1/merges"
            fine = {404} if of_something else set()
            fine |= {501} if path in NEED_A_MODEL else set()
            # This service has no key for the endpoint of its example.
            fine |= {422} if path == "/v1/embedding" else set()
            fine |= {401} if path == "/explorer/redeem" else set()  # a ticket cannot be made up
            assert answer.is_success or answer.status_code in fine, (path, answer.text)
            tried += 1
            if path == "/v1/tenants":
                operator.delete(f"/v1/tenants/{example['name']}")
    assert tried >= 5


def test_every_operation_tells_its_summary_and_its_problems(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], path
            problems = {
                status: answer
                for status, answer in operation["responses"].items()
                if status[0] in "45"
            }
            of_bodies = {"413", "415"} if "requestBody" in operation else set()
            assert {"421", *of_bodies} <= problems.keys(), (method, path)
            for status, answer in problems.items():
                (media,) = answer["content"]
                assert media == "application/problem+json", (method, path, status)
                for code, example in answer["content"][media]["examples"].items():
                    assert example["value"]["type"] == f"/errors/{code}"
                    assert example["value"]["status"] == int(status)


def test_every_tag_is_described_and_used(document: dict[str, Any]) -> None:
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    assert {tag for operation in operations for tag in operation["tags"]} == described
    assert document["paths"]["/v1/stats"]["get"]["tags"] == ["overview"]


def test_every_list_has_one_shape(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if not operation["operationId"].startswith("list_"):
                continue
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            name = schema["$ref"].rpartition("/")[2]
            fields = document["components"]["schemas"][name]["properties"]
            assert set(fields) == {"items", "next_cursor"}, path


def test_the_root_leads_on(server: RunningService) -> None:
    root = httpx.get(f"{server.url}/", timeout=60).json()
    assert root["service"] == "Ecphoria"
    for place in ("docs", "openapi", "ready"):
        assert httpx.get(server.url + root[place], timeout=60).status_code == 200


def test_every_field_is_described(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            told = described.get("description") or described.get("$ref")
            assert told, f"{name}.{field}"


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for name in set(re.findall(r"#/components/schemas/(\w+)", str(document))):
        assert name in document["components"]["schemas"]


PHASES = "examples,coverage,fuzzing,stateful"
FEW = "2"
EXAMPLES = os.environ.get("ECPHORIA_TEST_EXAMPLES", FEW)  # noqa: TID251
"""Generated requests of each operation; `make test-long` makes more."""
SEED = os.environ.get("ECPHORIA_TEST_SEED", "1")  # noqa: TID251
FOR_OPERATORS = "^/v1/(tenants|keys|embedding)"
"""The key of an operator opens more than these; `make test-long` tries all with it."""
CHECKS = Path(__file__).with_name("schemathesis.toml")
SAME_BODIES = """
[[operations]] # the body of /v1/ask
include-path = "/v1/ask/stream"
phases.coverage.enabled = false

[[operations]] # episodes, as /v1/episodes takes one
include-path = "/v1/episodes/batch"
phases.coverage.enabled = false
"""
"""The phase that breaks each rule of a body by itself makes 650 calls of these; `make test-long`
has it for all. The other phases call them every day."""


NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def apart(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service of its own with a model, as generated calls archive, consolidate and ask."""
    jobs = JobsSettings(workers=1, schedule_s=60)
    home = tmp_path_factory.mktemp("home")
    # A change to a model whose endpoint nobody serves is refused at once, not after retries.
    embedder = EmbedderSettings(base_url=NOWHERE, retries=0)
    with chat_endpoint() as model:
        model.says = obliging
        llm = LlmSettings(model="scripted", base_url=model.url)
        settings = settings_for(neo4j_server, home, jobs=jobs, llm=llm, embedder=embedder)
        with running(settings) as made:
            yield made


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("who", ["tenant", "operator"])
def test_generated_requests_get_documented_answers(
    apart: RunningService, who: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run every check of Schemathesis in every phase; schemathesis.toml tells the exceptions."""
    with apart.operator() as operator, new_owner(operator) as owner:
        for text in ("Marek Novak painted the old boat.", "He lives in Trieste."):
            owner.remember(text, session="s", speaker="Ilse Brandt")
        before = {one["name"] for one in operator.get("/v1/tenants").json()["items"]}
        key = owner.key if who == "tenant" else apart.key
        config = tmp_path / "schemathesis.toml"
        config.write_text(CHECKS.read_text() + (SAME_BODIES if EXAMPLES == FEW else ""))
        command = [
            sys.executable, "-m", "schemathesis.cli",
            "--config-file", str(config),
            "run", f"{apart.url}/openapi.json", "--phases", PHASES,
            "--max-examples", EXAMPLES, "--seed", SEED, "--suppress-health-check", "all",
            "--request-timeout", "60",  # a loaded machine is no fault of the service
            "--continue-on-failure", "--no-shrink", "--warnings", "off", "--no-color",
            "-H", f"Authorization: Bearer {key}", "-H", f"Ecphoria-Tenant: {owner.name}",
            # It could meet the tenants of other tests; their own test erases one.
            "--exclude-operation-id", "erase_tenant",
        ]  # fmt: skip
        if who == "operator" and EXAMPLES == FEW:
            command += ["--include-path-regex", FOR_OPERATORS]
        # The service writes it at the first call; Schemathesis waits no more than ten seconds.
        assert httpx.get(f"{apart.url}/openapi.json", timeout=60).is_success
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        for made in operator.get("/v1/tenants").json()["items"]:
            if made["name"] not in before and not made["name"].startswith("t-"):
                operator.delete(f"/v1/tenants/{made['name']}")
    (counted,) = re.findall(r"^ *(\d+) generated.*$", done.stdout, re.MULTILINE) or ["0"]
    with capsys.disabled():
        print(f"\n{counted} generated calls with the key of the {who}")  # noqa: T201
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(counted) > (1_000 if who == "tenant" else 100)
