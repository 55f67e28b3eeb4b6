from pathlib import Path

import pytest

from ecphoria.errors import Misconfigured
from ecphoria.neo4j_store.queries import Mode, load_fragments, load_queries, load_query, statements

GOOD = """\
// doc: Find what is asked.
// mode: read
// params: tenant STRING, ids LIST<STRING>,
//   limit INTEGER
// returns: id STRING, score FLOAT
// plan: Eager a few rows
CYPHER 25
// A remark with $no parameter.
MATCH (e:Episode {id: $tenant}) WHERE e.text <> '$nor here' AND e.`$or here` IN $ids
RETURN e.id AS id, 1.0 AS score LIMIT $limit
"""


def put(root: Path, text: str, path: str = "recall/find_it.cypher") -> Path:
    source = root / path
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    return source


def test_a_file_becomes_a_query_named_by_its_path(tmp_path: Path) -> None:
    put(tmp_path, GOOD)
    query = load_queries(tmp_path)["recall.find_it"]
    assert query.doc == "Find what is asked."
    assert query.mode is Mode.READ
    assert query.params == {"tenant": "STRING", "ids": "LIST<STRING>", "limit": "INTEGER"}
    assert list(query.returns) == ["id", "score"]
    assert query.plan == {"Eager": "a few rows"}
    assert query.text.startswith("CYPHER 25\n")
    assert query.text.endswith("LIMIT $limit")


def test_it_reads_its_parameters_from_one_map(tmp_path: Path) -> None:
    put(tmp_path, GOOD)
    sent = load_queries(tmp_path)["recall.find_it"].sent
    assert sent.text.splitlines()[1:] == [
        "// A remark with $no parameter.",
        (
            "MATCH (e:Episode {id: $given.tenant}) WHERE e.text <> '$nor here'"
            " AND e.`$or here` IN $given.ids"
        ),
        "RETURN e.id AS id, 1.0 AS score LIMIT $limit",
    ]
    params = {"tenant": "t", "ids": None, "limit": 3}
    assert sent.given(params) == {"given": params, "limit": 3}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("// mode: read\n", ""), ":1: the header lacks `mode:`"),
        (("// doc: Find what is asked.\n", ""), ":1: the header lacks `doc:`"),
        (("mode: read", "mode: look"), ":2: mode is read, write or schema"),
        (("tenant STRING, ", ""), "undeclared parameters: tenant"),
        (("ids LIST<STRING>", "ids LIST<STRING>, more MAP"), "unused parameters: more"),
        (("tenant STRING", "tenant string"), ":3: `params:` wants `name TYPE`"),
        (("score FLOAT", "id FLOAT"), ":5: `returns:` wants `name TYPE`, each once"),
        (("// plan", "// mode: read\n// plan"), ":6: `mode:` stands twice"),
        (("// doc", "// remark\n// doc"), ":1: the header starts with `// doc:`"),
    ],
)
def test_a_wrong_header_is_refused_with_file_and_line(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    source = put(tmp_path, GOOD.replace(*change, 1))
    with pytest.raises(Misconfigured) as refused:
        load_query(tmp_path, source)
    assert str(source) in refused.value.message
    assert told in refused.value.message


def test_a_header_without_a_query_is_refused(tmp_path: Path) -> None:
    source = put(tmp_path, "// doc: Nothing.\n// mode: read\n")
    with pytest.raises(Misconfigured, match="no query under the header"):
        load_query(tmp_path, source)


FRAGMENT = """\
// doc: Keep the ones above a bound.
// params: least FLOAT
// returns: id STRING
WHERE node.score > $least
  AND nodes IS NULL

RETURN node.id AS id
"""
USING = """\
// doc: Find what is above a bound.
// mode: read
// params: tenant STRING
CYPHER 25
MATCH (e:Episode {tenant: $tenant})
  // use: above(e)
"""


def test_a_fragment_stands_where_it_is_used_with_what_it_declares(tmp_path: Path) -> None:
    put(tmp_path, FRAGMENT, "fragments/above.cypher")
    put(tmp_path, USING)
    (query,) = load_queries(tmp_path).values()
    assert query.params == {"tenant": "STRING", "least": "FLOAT"}
    assert query.returns == {"id": "STRING"}
    assert query.text.splitlines()[2:] == [
        "  WHERE e.score > $least",
        "    AND nodes IS NULL",
        "",
        "  RETURN e.id AS id",
    ]


def test_a_fragment_may_use_another(tmp_path: Path) -> None:
    put(tmp_path, FRAGMENT, "fragments/above.cypher")
    header = "// doc: Keep some.\n// params: name STRING\n"
    lines = "WITH node, $name AS name\n// use: above(node)\n"
    put(tmp_path, header + lines, "fragments/some.cypher")
    put(tmp_path, USING.replace("above(e)", "some(e)"))
    (query,) = load_queries(tmp_path).values()
    assert query.params == {"tenant": "STRING", "name": "STRING", "least": "FLOAT"}
    assert query.text.splitlines()[2:4] == ["  WITH e, $name AS name", "  WHERE e.score > $least"]


def test_an_unknown_fragment_is_refused_with_file_and_line(tmp_path: Path) -> None:
    source = put(tmp_path, USING)
    with pytest.raises(Misconfigured, match=r"find_it.cypher:6: there is no fragment `above`"):
        load_query(tmp_path, source)


def test_a_name_that_query_and_fragment_declare_with_two_types_is_refused(tmp_path: Path) -> None:
    put(tmp_path, FRAGMENT, "fragments/above.cypher")
    source = put(tmp_path, USING.replace("tenant STRING", "tenant STRING, least INTEGER"))
    with pytest.raises(Misconfigured, match="`least` is FLOAT in the fragment `above`"):
        load_query(tmp_path, source, load_fragments(tmp_path))


def test_saved_browser_queries_are_left_to_the_browser(tmp_path: Path) -> None:
    put(tmp_path, "MATCH (n) RETURN n", "browser/everything.cypher")
    assert load_queries(tmp_path) == {}


def test_a_schema_file_is_split_at_the_semicolons_that_end_lines(tmp_path: Path) -> None:
    text = "// doc: Two.\n// mode: schema\nCREATE A\nON 'x;y';\n\n// why\nCREATE B;\n"
    query = load_query(tmp_path, put(tmp_path, text))
    assert statements(query) == ("CREATE A\nON 'x;y'", "// why\nCREATE B")
