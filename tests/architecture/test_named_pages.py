"""Every page and decision that a comment or docstring names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("service", "scripts", "tests", "cypher")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".cypher", ".toml"}
]
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
DECISIONS = re.compile(
    r"\bdecisions?\s+(?:[#/]+\s+)?(\d{4}(?:(?:,|\s+and)\s+\d{4})*)", re.IGNORECASE
)


def named(text: str) -> set[str]:
    """List the pages and records of decisions that a text names, as paths."""
    numbers = {number for found in DECISIONS.findall(text) for number in re.findall(r"\d+", found)}
    return {*PAGE.findall(text), *(f"docs/decisions/{number}.md" for number in numbers)}


def test_names_are_found() -> None:
    text = "# Long (docs/a/b-c.md).\n# Longer (decision\n# 0001); decisions 0002, 0003 and 0004."
    decisions = {f"docs/decisions/000{number}.md" for number in (1, 2, 3, 4)}
    assert named(text) == {"docs/a/b-c.md", *decisions}


def test_every_page_that_a_source_names_exists() -> None:
    named_by = {
        page: path
        for path in SOURCES
        if path != Path(__file__)
        for page in named(path.read_text(encoding="utf-8"))
    }
    assert len(named_by) > 50
    assert {page: path for page, path in named_by.items() if not (ROOT / page).exists()} == {}


def test_the_index_lists_each_decision_once() -> None:
    folder = ROOT / "docs" / "decisions"
    rows = re.findall(r"^\| \[(\d{4})\]", (folder / "index.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(path.stem for path in folder.glob("[0-9]*.md"))
