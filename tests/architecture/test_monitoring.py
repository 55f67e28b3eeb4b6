"""The dashboard and the alerts know every metric, and the runbook every alert."""

import importlib
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that writes both."""
    name = "scripts.generate_monitoring"
    found: ModuleType = importlib.import_module(name)
    return found


@pytest.fixture(scope="module")
def samples(script: ModuleType) -> dict[str, set[str]]:
    """The labels of every sample that Prometheus reads, by its name."""
    return {
        sample.name: set(sample.labels)
        for family in script.described_metrics()
        for sample in family.samples
    }


def test_the_files_are_fresh(script: ModuleType) -> None:
    for name, write in script.FILES.items():
        assert (script.FOLDER / name).read_text(encoding="utf-8") == write(), (
            f"{name} is older than the code: python -m scripts.generate_monitoring"
        )


def test_the_dashboard_shows_every_metric(script: ModuleType) -> None:
    panels = json.loads(script.dashboard())["panels"]
    queries = " ".join(target["expr"] for panel in panels for target in panel["targets"])
    assert len(panels) > 10
    for family in script.described_metrics():
        assert re.search(rf"\b{family.name}\b|\b{family.name}_", queries), family.name


def test_queries_name_only_samples_and_labels_that_there_are(
    script: ModuleType, samples: dict[str, set[str]]
) -> None:
    panels = json.loads(script.dashboard())["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    queries += [condition for _, condition, *_ in script.ALERTS]
    for query in queries:
        for name, selector in re.findall(r"\b(ecphoria_\w+)(?:{([^}]*)})?", query):
            assert name in samples, f"{name} in {query}"
            for label in re.findall(r"(\w+)=~?\"", selector):
                assert label in samples[name], f"{label} in {query}"


def test_every_alert_has_its_section_in_the_runbook(script: ModuleType) -> None:
    rules = yaml.safe_load(script.alerts())["groups"][0]["rules"]
    runbook = (ROOT / script.RUNBOOK).read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)$", runbook, re.MULTILINE)
    assert [rule["alert"] for rule in rules] == sections
    for rule in rules:
        assert rule["annotations"]["runbook"].endswith(f"#{rule['alert'].lower()}")
