"""Load queries from files, and write Lucene queries.

A file holds one query under a header of `//` lines:

```
// doc: One sentence.
// mode: read | write | schema
// params: name TYPE, name TYPE
// returns: name TYPE, name TYPE
// each: name TYPE, name TYPE
// plan: OPERATOR why this operator is right here
```

`each` names the entries of lists that are collected into the one column `rows`: a driver reads
one record of many lists much faster than many records. The type INSTANT is an integer of
microseconds since 1970.

`doc` and `mode` are required, the others stand where they say something; a `//` line without a
key continues the one above it. A query's name is its path: `recall/seeds_by_vector.cypher` is
`recall.seeds_by_vector`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from ecphoria.errors import Misconfigured
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Phrase, Required

_HEADER = re.compile(r"//\s*(doc|mode|params|returns|each|plan):\s*(.*)")
_FIELD = re.compile(r"([a-z_]+) ([A-Z][A-Z0-9 <>_]*)")
_BETWEEN_FIELDS = re.compile(r",(?![^<]*>)")
# Strings, quoted names and comments: what looks like a parameter in them is none.
_OPAQUE = re.compile(
    r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL
)
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_NOT_QUERIES = frozenset({"browser"})


class Mode(StrEnum):
    """The mode of a query; it decides access mode and routing."""

    READ = "read"
    WRITE = "write"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One checked query file.

    Attributes:
        params: Type by name of every parameter the text uses.
        returns: Type by name of every column, in order.
        each: Type by name of the entries of the lists in the column `rows`, in order.
        plan: Reason by operator the EXPLAIN test would else refuse.
    """

    name: str
    doc: str
    mode: Mode
    params: Mapping[str, str]
    returns: Mapping[str, str]
    each: Mapping[str, str]
    plan: Mapping[str, str]
    text: str
    source: Path


def cypher_root() -> Path:
    """Find the query files: inside the wheel, else beside the package in a checkout.

    Raises:
        Misconfigured: Neither place has them; the installation is broken.
    """
    package = Path(__file__).resolve().parents[1]
    for root in (package / "_cypher", package.parents[1] / "cypher"):
        if root.is_dir():
            return root
    raise Misconfigured("the installation lacks its Cypher files; install ecphoria again")


def load_queries(root: Path) -> Mapping[str, Query]:
    """Read every query under `root`, by name.

    Raises:
        Misconfigured: A header is missing or wrong; the message has file and line.
    """
    found = (
        load_query(root, source)
        for source in sorted(root.rglob("*.cypher"))
        if source.relative_to(root).parts[0] not in _NOT_QUERIES
    )
    return {query.name: query for query in found}


def load_query(root: Path, source: Path) -> Query:
    """Read one query file and compare its declared with its used parameters.

    Raises:
        Misconfigured: The header is missing or wrong; the message has file and line.
    """
    lines = source.read_text("utf-8").splitlines()
    header, body = _header(source, lines)
    text = "\n".join(lines[body:]).strip()
    if not text:
        raise _malformed(source, body + 1, "there is no query under the header")
    for key in ("doc", "mode"):
        if key not in header:
            raise _malformed(source, 1, f"the header lacks `{key}:`")
    line, mode = header["mode"]
    if mode not in {known.value for known in Mode}:
        raise _malformed(source, line, f"mode is read, write or schema, not `{mode}`")
    params = _fields(source, header, "params")
    used = set(_PARAMETER.findall(_OPAQUE.sub(" ", text)))
    if undeclared := used - params.keys():
        raise _malformed(source, 1, f"undeclared parameters: {', '.join(sorted(undeclared))}")
    if unused := params.keys() - used:
        raise _malformed(source, 1, f"unused parameters: {', '.join(sorted(unused))}")
    each = _fields(source, header, "each")
    operator, _, reason = header.get("plan", (1, ""))[1].partition(" ")
    return Query(
        name=".".join(source.relative_to(root).with_suffix("").parts),
        doc=header["doc"][1],
        mode=Mode(mode),
        params=params,
        returns={"rows": "LIST<ANY>"} if each else _fields(source, header, "returns"),
        each=each,
        plan={operator: reason} if operator else {},
        text=text,
        source=source,
    )


# Not the label Reembedding, which is the same in every generation.
_VECTORS = re.compile(r"(?<![A-Za-z])embedding(_1)?(?!\w)")


def vector_name(generation: int) -> str:
    """Name the property that holds the vectors of a generation; indexes end with it too.

    >>> vector_name(0), vector_name(2)
    ('embedding', 'embedding_2')
    """
    return f"embedding_{generation}" if generation else "embedding"


def for_generation(query: Query, generation: int) -> Query:
    """Give a query the names of another generation of vectors.

    The files are written for the first one, `embedding`, whose next one is `embedding_1`. See
    decision 0037.
    """
    names = {None: vector_name(generation), "_1": vector_name(generation + 1)}
    return replace(query, text=_VECTORS.sub(lambda found: names[found[1]], query.text))


def statements(query: Query) -> tuple[str, ...]:
    """Split a schema file at the semicolons that end its lines."""
    parts = re.split(r";[ \t]*(?:\n|$)", query.text)
    return tuple(part.strip() for part in parts if _OPAQUE.sub(" ", part).strip())


def _header(source: Path, lines: list[str]) -> tuple[dict[str, tuple[int, str]], int]:
    header: dict[str, tuple[int, str]] = {}
    key = ""
    for number, line in enumerate(lines, start=1):
        if not line.startswith("//"):
            return header, number - 1
        if match := _HEADER.fullmatch(line):
            key, value = match[1], match[2].strip()
            if key in header:
                raise _malformed(source, number, f"`{key}:` stands twice")
            header[key] = (number, value)
        elif not key:
            raise _malformed(source, number, "the header starts with `// doc:`")
        else:
            first, value = header[key]
            header[key] = (first, f"{value} {line[2:].strip()}".strip())
    return header, len(lines)


def _fields(source: Path, header: Mapping[str, tuple[int, str]], key: str) -> dict[str, str]:
    line, declared = header.get(key, (1, ""))
    fields: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in _BETWEEN_FIELDS.split(declared))):
        match = _FIELD.fullmatch(part)
        if match is None or match[1] in fields:
            raise _malformed(source, line, f"`{key}:` wants `name TYPE`, each once: `{part}`")
        fields[match[1]] = match[2]
    return fields


def _malformed(source: Path, line: int, what: str) -> Misconfigured:
    return Misconfigured(f"{source}:{line}: {what}", source=str(source), line=line)


_SPECIAL = re.compile(r"([+\-!(){}\[\]^\"~*?:\\/&|<>=])")
_PHRASE = 'words:"{}"'
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def all_of(tenant: TenantId) -> str:
    """Ask for everything a tenant has in the index."""
    return _only(tenant)


def any_of(tenant: TenantId, stems: Sequence[str], required: Required | None = None) -> str:
    """Ask for a tenant's items with at least one of the stems, and with all that is required.

    The tenant adds no score.
    """
    clauses = [_only(tenant)]
    if stems:
        clauses.append(f"+({' '.join(map(_term, stems))})")
    if required is not None:
        clauses += [f"+{_term(stem)}" for stem in required.stems]
        clauses += [f"+{_phrase(phrase)}" for phrase in required.phrases]
    return " ".join(clauses)


def any_phrase(tenant: TenantId, names: Sequence[str]) -> str:
    """Make a text query for a tenant's items that contain one of the names as a phrase.

    Names are normalised: letters, digits and blanks, so nothing in them is syntax.
    """
    return f"{_only(tenant)} +({' '.join(map(_PHRASE.format, names))})"


def _only(tenant: TenantId) -> str:
    return f"+tenant:{tenant}^0"


def _phrase(phrase: Phrase) -> str:
    """Write a phrase; one that allows words between finds also what is a little further apart.

    Lucene counts moves: to bring n words from any order into that of the phrase takes up to
    2 (n - 1) of them, beside one for each word between.
    """
    quoted = _PHRASE.format(" ".join(map(_escaped, phrase.words)))
    if not phrase.between:
        return quoted
    return f"{quoted}~{phrase.between + 2 * (len(phrase.words) - 1)}"


def _term(stem: str) -> str:
    escaped = _escaped(stem)
    return f"terms:\\{escaped}" if escaped in _OPERATORS else f"terms:{escaped}"


def _escaped(token: str) -> str:
    return _SPECIAL.sub(r"\\\1", token)
