"""The published description is true: its examples work, its answers are the ones given."""

import re
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.acceptance.conftest import Owner, RunningService

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def document(server: RunningService) -> dict[str, Any]:
    """The published description."""
    found: dict[str, Any] = httpx.get(f"{server.url}/openapi.json").json()
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
            who = operator if path == "/v1/tenants" else owner
            answer = who.request(method, path, json=example)
            of_something = "{" in path or path == "/v1/merges"
            found = {200, 201, 202, 404} if of_something else {200, 201, 202}
            assert answer.status_code in found, (path, answer.text)
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
            assert problems or path in {"/healthz", "/metrics", "/v1/browser"}, path
            for status, answer in problems.items():
                (media,) = answer["content"]
                assert media == "application/problem+json", (method, path, status)
                for code, example in answer["content"][media]["examples"].items():
                    assert example["value"]["type"] == f"/errors/{code}"
                    assert example["value"]["status"] == int(status)


def test_every_field_is_described(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            told = described.get("description") or described.get("$ref")
            assert told, f"{name}.{field}"


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for name in set(re.findall(r"#/components/schemas/(\w+)", str(document))):
        assert name in document["components"]["schemas"]


def test_generated_requests_get_documented_answers(owner: Owner, server: RunningService) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    headers = {"Authorization": f"Bearer {owner.key}"}
    tried = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.path in {"/metrics", "/browser-guide/{file}"}:
            continue

        @settings(
            max_examples=4,
            deadline=None,
            phases=[Phase.generate],
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def attempt(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(headers=headers, checks=CHECKS)

        attempt()
        tried += 1
    assert tried >= 18
