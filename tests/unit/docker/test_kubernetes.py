"""The manifests are valid, and fit the service and each other."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from ecphoria.http.routes_admin import operations_routes
from ecphoria.settings import variables

ROOT = Path(__file__).parents[3]
MANIFESTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((ROOT / "docker" / "kubernetes.yaml").read_text("utf-8"))
)
SUPPORTED = ["1.31", "1.34", "1.37"]


def named(kind: str, name: str) -> dict[str, Any]:
    (found,) = (one for one in MANIFESTS if (one["kind"], one["metadata"]["name"]) == (kind, name))
    return found


def pod(kind: str, name: str) -> dict[str, Any]:
    template: dict[str, Any] = named(kind, name)["spec"]["template"]
    return template


@pytest.mark.parametrize("version", SUPPORTED)
def test_kubernetes_takes_each_manifest(version: str) -> None:
    for one in MANIFESTS:
        kubernetes_validate.validate(one, version, strict=True)


def test_each_selector_meets_its_pods() -> None:
    labels = [
        pod("StatefulSet", "neo4j")["metadata"]["labels"],
        pod("Deployment", "ecphoria")["metadata"]["labels"],
    ]
    policy = named("NetworkPolicy", "neo4j")["spec"]
    (rule,) = policy["ingress"]
    for selector, place in (
        (named("Service", "neo4j")["spec"]["selector"], 0),
        (named("StatefulSet", "neo4j")["spec"]["selector"]["matchLabels"], 0),
        (policy["podSelector"]["matchLabels"], 0),
        (named("Service", "ecphoria")["spec"]["selector"], 1),
        (named("Deployment", "ecphoria")["spec"]["selector"]["matchLabels"], 1),
        (named("PodDisruptionBudget", "ecphoria")["spec"]["selector"]["matchLabels"], 1),
        (rule["from"][0]["podSelector"]["matchLabels"], 1),
    ):
        assert selector == labels[place]


def test_the_service_is_given_its_own_settings_and_asked_for_its_health() -> None:
    (container,) = pod("Deployment", "ecphoria")["spec"]["containers"]
    given = {one["name"] for one in container["env"]} | set(named("ConfigMap", "ecphoria")["data"])
    assert given <= {name for name, _, _ in variables()}
    routes = {route.path for route in operations_routes.routes}  # type: ignore[attr-defined]
    probes = [
        container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")
    ]
    assert {probe["path"] for probe in probes} <= routes
    assert container["args"] == ["serve"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts["archive"] == named("ConfigMap", "ecphoria")["data"]["ECPHORIA_ARCHIVE__DIR"]
    uid = pod("Deployment", "ecphoria")["spec"]["securityContext"]["runAsUser"]
    assert f"useradd --uid {uid} " in (ROOT / "docker" / "Dockerfile").read_text("utf-8")


def test_no_variable_of_a_service_is_read_as_a_setting() -> None:
    # Kubernetes sets NAME_PORT and others for each Service of the namespace.
    for kind, name in (("StatefulSet", "neo4j"), ("Deployment", "ecphoria")):
        assert pod(kind, name)["spec"]["enableServiceLinks"] is False


def test_neo4j_is_set_up_as_in_compose() -> None:
    (container,) = pod("StatefulSet", "neo4j")["spec"]["containers"]
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
    there = compose["services"]["neo4j"]
    assert container["image"] == there["image"]
    given = {one["name"]: one.get("value") for one in container["env"]}
    sized = {name for name in there["environment"] if "memory" in name}
    assert sized <= given.keys()
    assert {
        name: value
        for name, value in there["environment"].items()
        if name not in sized and name != "NEO4J_AUTH"
    }.items() <= given.items()


def test_nobody_is_root_and_the_page_names_each_manifest() -> None:
    for kind, name in (("StatefulSet", "neo4j"), ("Deployment", "ecphoria")):
        spec = pod(kind, name)["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        for container in spec["containers"]:
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    page = (ROOT / "docs" / "howto" / "kubernetes.md").read_text("utf-8")
    assert all(f"`{one['kind']}`" in page for one in MANIFESTS)
