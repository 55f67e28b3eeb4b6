"""Every setting that a test, a script or a page sets exists, also in tests that seldom run."""

import re
from pathlib import Path

from ecphoria.settings import variables
from tests.each import for_each

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "scripts", "docker", "docs")
KINDS = {".py", ".md", ".sh", ".toml", ".yaml", ".yml", ""}
READ = [
    *(ROOT / name for name in ("Makefile", "README.md", ".ci/run")),
    *(path for one in FOLDERS for path in (ROOT / one).rglob("*") if path.suffix in KINDS),
]
NAMED = re.compile(r"\bECPHORIA_[A-Z0-9]+(?:_[A-Z0-9]+)*__[A-Z0-9_]+")
WRONG = {
    "tests/unit/settings/test_settings.py", "tests/integration/cli/test_command_line.py",
    "tests/acceptance/test_process.py",
}  # fmt: skip
"""They set an unknown setting, and check the error."""
OWN = {"ECPHORIA_TEST_NEO4J__URI", "ECPHORIA_TEST_NEO4J__PASSWORD"}
"""They name the Neo4j of the tests (tests/conftest.py)."""
KNOWN = OWN.union(name for of_tests in (False, True) for name, *_ in variables(of_tests=of_tests))
NAMES = {
    place: names
    for path in READ
    if path.is_file()
    and (place := path.relative_to(ROOT).as_posix()) not in WRONG
    and (names := frozenset(NAMED.findall(path.read_text(encoding="utf-8"))))
}


@for_each(NAMES)
def test_every_setting_that_is_named_exists(names: frozenset[str]) -> None:
    assert names - KNOWN == set()


def test_settings_are_found_where_they_are_named() -> None:
    assert len(frozenset().union(*NAMES.values())) > 50
