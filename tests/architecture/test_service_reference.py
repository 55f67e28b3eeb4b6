"""Every setting, error, metric, endpoint is documented, and the pages are fresh."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from ecphoria.http import routes_admin, routes_facts, routes_items, routes_memory, routes_upkeep
from ecphoria.http.explorer import routes as explorer_routes
from ecphoria.http.problems import PROBLEMS
from ecphoria.wire.base import error_classes

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "generate_service_reference.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that writes the pages."""
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "errors.md", "metrics.md"])
def test_the_page_is_fresh(script: ModuleType, page: str) -> None:
    written = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert script.PAGES[page]() == written, f"run: python scripts/{SCRIPT.name}"


def test_every_error_has_a_row_in_the_table() -> None:
    assert set(PROBLEMS) == set(error_classes())


ROUTES = (
    routes_admin, routes_facts, routes_items, routes_memory,
    routes_upkeep, explorer_routes,
)  # fmt: skip


def test_every_endpoint_is_documented_and_no_other() -> None:
    served = {
        f"{method} {route.path_format}"
        for module in ROUTES
        for router in vars(module).values()
        if isinstance(router, APIRouter)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
        if method != "HEAD"  # told in the row of GET
    }
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([A-Z]+ /\S+)` \|", page, re.MULTILINE)) == served
