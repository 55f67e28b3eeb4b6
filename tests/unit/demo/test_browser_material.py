import re
from pathlib import Path

import pytest

BROWSER = Path(__file__).parents[3] / "cypher" / "browser"
GUIDE = Path(__file__).parents[3] / "docs" / "howto" / "neo4j-browser.md"
QUERIES = sorted(BROWSER.glob("*.cypher"))
WRITES = re.compile(
    r"\b(CREATE|MERGE|DELETE|SET|REMOVE|DROP|FOREACH|LOAD|CALL\s+\w+\.)\b", re.IGNORECASE
)
LABELS = {
    "Tenant",
    "Session",
    "Speaker",
    "Episode",
    "LiveEpisode",
    "Passage",
    "LivePassage",
    "Concept",
    "LiveConcept",
    "Fact",
    "Engram",
    "Trace",
    "Term",
}
EDGES = {
    "NEXT",
    "IN_SESSION",
    "HAS_PASSAGE",
    "SPOKEN_BY",
    "MENTIONS",
    "ABOUT",
    "EVIDENCE",
    "SUMMARISES",
    "ASSOCIATED",
    "SIMILAR",
    "WOKE",
    "SEEDED",
}
STYLE_KEYS = {
    "diameter",
    "color",
    "border-color",
    "border-width",
    "text-color-internal",
    "text-color-external",
    "font-size",
    "shaft-width",
    "padding",
    "caption",
}


def title_of(query: Path) -> str:
    return query.read_text(encoding="utf-8").splitlines()[0].removeprefix("// ")


def statement_of(query: Path) -> str:
    kept = [
        line
        for line in query.read_text(encoding="utf-8").splitlines()
        if not line.startswith("//")
    ]
    return "\n".join(kept)


def style() -> dict[str, dict[str, str]]:
    text = (BROWSER / "ecphoria.grass").read_text(encoding="utf-8")
    rules: dict[str, dict[str, str]] = {}
    for selector, body in re.findall(r"([^{}]+)\{((?:[^{}\"]|\"[^\"]*\")*)\}", text):
        declarations = [part.split(":") for part in body.split(";") if part.strip()]
        assert all(len(declaration) == 2 for declaration in declarations), selector
        rules[selector.strip()] = {key.strip(): value.strip() for key, value in declarations}
    return rules


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_saved_queries_open_with_a_title_and_say_what_they_show(query: Path) -> None:
    lines = query.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"// [A-Z][^.]{5,50}", lines[0])
    assert lines[1] == "//"
    assert lines[2].startswith("// ")
    assert max(map(len, lines)) <= 99


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_saved_queries_only_read_and_end_ordered_and_bounded(query: Path) -> None:
    statement = statement_of(query)
    assert not WRITES.search(re.sub(r"'[^']*'", "''", statement))
    assert "$" not in statement
    assert ";" not in statement
    assert re.search(r"\nORDER BY [^;]+\nLIMIT \d+\s*$", statement)


def test_saved_queries_and_their_titles_are_all_in_the_guide() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert len(QUERIES) >= 6
    assert len({title_of(query) for query in QUERIES}) == len(QUERIES)
    for query in QUERIES:
        assert f"| {title_of(query)} |" in guide
        assert f"`{query.name}`" in guide


def test_the_style_names_every_kind_of_node_and_edge() -> None:
    rules = style()
    assert {f"node.{label}" for label in LABELS} <= set(rules)
    assert {f"relationship.{edge}" for edge in EDGES} <= set(rules)
    for selector, declarations in rules.items():
        assert re.fullmatch(r"(node|relationship)(\.\w+)?", selector)
        assert set(declarations) <= STYLE_KEYS, selector
        assert re.fullmatch(r"#[0-9A-F]{6}", declarations["color"]), selector


def test_a_live_node_is_drawn_over_the_style_of_a_dormant_one() -> None:
    # The Browser merges all rules that match in file order, so that the last one wins.
    order = list(style())
    assert order.index("node.Episode") < order.index("node.LiveEpisode")
    assert order.index("node.Name") < order.index("node.Concept")
    assert order.index("node.Concept") < order.index("node.LiveConcept")


def test_the_style_holds_nothing_the_browser_cannot_parse() -> None:
    text = (BROWSER / "ecphoria.grass").read_text(encoding="utf-8")
    assert "/*" not in text
    assert "//" not in text
    assert "'" not in text
    captions = re.findall(r'"([^"]*)"', text)
    assert captions
    assert not [caption for caption in captions if ":" in caption or ";" in caption]
