"""Every installation without an extra names the extra; none blames Ecphoria."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import ecphoria
from ecphoria.cli.extras import EXTRAS
from ecphoria.errors import install
from tests.each import for_each
from tests.unit.cli.conftest import StubService
from tests.unit.cli.leaves import LEAVES, fillers

PACKAGE = Path(ecphoria.__file__).parent
FRAMEWORKS = PACKAGE / "integrations"
"""Each adapter names its own extra; no command imports one."""

LIGHT = """
import contextlib, io, json, sys
from importlib.abc import MetaPathFinder

blocked, calls = json.loads(sys.argv[1])

class Blocked(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from ecphoria.cli.main import run

told = []
for call in calls:
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        try:
            run(call)
        except SystemExit as ended:
            told.append([ended.code, err.getvalue()])
print(json.dumps(told))
"""


def asked(lines: Iterable[str]) -> set[str]:
    """List the distributions that requirements ask for here."""
    found = map(Requirement, lines)
    return {
        canonicalize_name(each.name)
        for each in found
        if each.marker is None or each.marker.evaluate({"extra": ""})
    }


def with_all_they_ask(names: set[str]) -> set[str]:
    """Add everything that these distributions bring along."""
    waiting, found = set(names), set[str]()
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= asked(requires(name) or ()) - found
    return found


def of(module: str) -> set[str]:
    """Find the installed distributions of a module."""
    return {canonicalize_name(name) for name in INSTALLED.get(module, ())}


INSTALLED = packages_distributions()


PROJECT = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
OWN = {
    extra: asked(lines) - {"ecphoria"} for extra, lines in PROJECT["optional-dependencies"].items()
}


@cache
def imported() -> dict[str, Path]:
    """Find every foreign module that the package imports, with a place of it."""
    found: dict[str, Path] = {}
    for file in PACKAGE.rglob("*.py"):
        if FRAMEWORKS in file.parents:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names.append(node.module or "")
            for name in names:
                found.setdefault(name.partition(".")[0], file)
    return {name: file for name, file in found.items() if name not in sys.stdlib_module_names}


def test_each_module_that_is_imported_comes_with_the_base_or_has_its_extra() -> None:
    light = with_all_they_ask(asked(PROJECT["dependencies"]))
    for name, file in imported().items():
        if name in {"ecphoria", "_typeshed"}:
            continue
        comes = bool(of(name) & light)
        assert comes is (name not in EXTRAS), f"{file} imports {name}"


@for_each({name: (name, extra) for name, extra in EXTRAS.items()})
def test_each_extra_brings_its_module(named: tuple[str, str]) -> None:
    name, extra = named
    if found := of(name):
        assert found & with_all_they_ask(OWN[extra])


def test_a_service_asks_for_nothing_that_it_does_not_import() -> None:
    used = {dist for name in imported() for dist in of(name)}
    unused = (OWN["server"] | OWN["encoder"] | OWN["engine"]) - used
    assert unused == {"neo4j-rust-ext", "fastapi-swagger"}, "files and speed, no imports"


def run_without(
    extras: set[str], calls: list[list[str]], home: Path, url: str
) -> list[tuple[int, str]]:
    """Run commands in an installation that lacks these extras."""
    blocked = [module for module, extra in EXTRAS.items() if extra in extras]
    if "mcp" not in extras:
        blocked.remove("opentelemetry")  # its interface comes with the SDK of MCP
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, json.dumps([blocked, calls])],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
        timeout=200,
        env={
            "ECPHORIA_HOME": str(home),
            "ECPHORIA_URL": url,
            "PYTHONPATH": str(PACKAGE.parent),
            "COLUMNS": "200",
        },
    )
    return [(code, said) for code, said in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize("present", [set(), {"server", "mcp"}], ids=["base", "server"])
def test_no_command_blames_ecphoria_for_a_missing_extra(
    present: set[str], tmp_path: Path, service: StubService
) -> None:
    lacking = set(EXTRAS.values()) - present
    file = tmp_path / "some.json"
    file.write_text("{}", encoding="utf-8")
    calls = [
        [*name.split(), *fillers(leaf, file)]
        for name, leaf in LEAVES.items()
        if name != "mcp" or "mcp" in lacking  # else it serves standard input
    ]
    calls += [
        ["calibrate"],
        ["eval", "load", "--help"],
        # A scheme that the driver refuses: it would try to connect for 15 s.
        ["import", "http://127.0.0.1:9", "--format", "graphiti"],
    ]
    told: set[str] = set()
    for call, (code, said) in zip(
        calls, run_without(lacking, calls, tmp_path, service.url), strict=True
    ):
        assert "fault in Ecphoria" not in said, (call, said)
        assert "Traceback" not in said, (call, said)
        assert "No module named" not in said, (call, said)
        if named := re.findall(r'pip install "\.\[([a-z-]+)\]"', said):
            assert code == 1, (call, said)
            assert set(named) <= lacking, (call, said)
            told |= {*named}
    assert told


def test_a_base_installation_names_the_extra(tmp_path: Path, service: StubService) -> None:
    named = {
        "eval load": "server",
        "serve": "server",
        "demo": "server",
        "neo4j up": "server",
        "mcp": "mcp",
    }
    calls = [[*name.split(), *fillers(LEAVES[name], tmp_path / "nothing")] for name in named]
    told = run_without(set(EXTRAS.values()), calls, tmp_path, service.url)
    for (name, extra), (code, said) in zip(named.items(), told, strict=True):
        assert code == 1, name
        assert install(extra) in said, (name, said)


def test_a_fault_of_our_own_is_still_called_one() -> None:
    code = "import sys, ecphoria.cli.main as m\nsys.modules['ecphoria.cli.look'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}m.run(['sessions'])"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "this is a fault in Ecphoria" in done.stderr
