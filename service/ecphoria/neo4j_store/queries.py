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

`each` names the entries of the lists in the column `rows`: the driver reads one record of many
lists much faster than many records. The type INSTANT is an integer of microseconds since 1970,
LOCAL_INSTANT a list of one and of minutes from UTC, JSON a text that is parsed, EMBEDDING and
BYTES a stored vector, which becomes a unit vector or stays rounded. `decoding.py`
makes records of columns, `encoding.py` makes maps of records.

`doc` and `mode` are required, the others optional; a `//` line without a key continues the line
above it. A query's name is its path: `recall/seeds_by_vector.cypher` is `recall.seeds_by_vector`.

Lines that several queries share are in `fragments/NAME.cypher`, written for a variable `node`. The
line `// use: NAME(e)` in a query is replaced by these lines, with `e` for `node`. Declarations in
the header of a fragment count for the queries that use it. A fragment may use others, as
`// use: NAME(node)`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

from ecphoria.errors import Misconfigured
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Phrase, Required

_HEADER = re.compile(r"//\s*(doc|mode|params|returns|each|plan):\s*(.*)")
_FIELD = re.compile(r"([a-z][a-z0-9_]*) ([A-Z][A-Z0-9 <>_]*)")
_BETWEEN_FIELDS = re.compile(r",(?![^<]*>)")
# Strings, quoted names and comments; they contain no parameters.
_OPAQUE = re.compile(
    r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL
)
_PARAMETER = re.compile(r"\$(?P<name>[A-Za-z_]\w*)")
# The grammar has a parameter, and nothing else, at the end of some clauses.
_PLACES = re.compile(
    rf"{_OPAQUE.pattern}|(?P<apart>\b(?:LIMIT|INDEX) )?{_PARAMETER.pattern}", re.DOTALL
)
_USE = re.compile(r"([ \t]*)// use: (\w+)\((\w+)\)")
_NODE = re.compile(r"\bnode\b")
_FRAGMENTS = "fragments"
_NOT_QUERIES = frozenset({"browser", _FRAGMENTS})
GIVEN = "given"
"""The map of all parameters of a query; see `as_sent`."""


class Mode(StrEnum):
    """The mode of a query; it decides access mode and routing."""

    READ = "read"
    WRITE = "write"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Sent:
    """A query as the server gets it.

    Attributes:
        apart: Parameters that are not read from the map.
    """

    text: str
    apart: frozenset[str]

    def given(self, params: Mapping[str, object]) -> dict[str, object]:
        """Put the parameters where the text reads them."""
        return {GIVEN: params, **{name: params[name] for name in self.apart}}


@cache
def as_sent(text: str) -> Sent:
    """Let a query read its parameters from the map `$given`.

    The server plans a query anew for each combination of types of its parameters, and null is a
    type of its own: a list with ten filters took .4 s more at each new choice of them. The entries
    of a map have no types for it, so each query is planned once (decision 0094).

    >>> as_sent("MATCH (e:Episode {id: $id}) WHERE e.text <> '$id' RETURN e").text
    "MATCH (e:Episode {id: $given.id}) WHERE e.text <> '$id' RETURN e"
    """
    apart = frozenset(found["name"] for found in _PLACES.finditer(text) if found["apart"])

    def moved(found: re.Match[str]) -> str:
        stays = found["apart"] or not found["name"]
        return found[0] if stays else f"${GIVEN}.{found['name']}"

    return Sent(_PLACES.sub(moved, text), apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One checked query file.

    Attributes:
        params: Type by name of every parameter the text uses.
        returns: Type by name of every column, in order.
        each: Type by name of the entries of the lists in the column `rows`, in order.
        plan: The reason for each operator that the EXPLAIN test would otherwise refuse.
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

    @property
    def sent(self) -> Sent:
        """The text as the server gets it."""
        return as_sent(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Lines that several queries share.

    Attributes:
        declared: Names and types under `params`, `returns` and `each`.
    """

    declared: Mapping[str, Mapping[str, str]]
    lines: tuple[str, ...]
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
    fragments = load_fragments(root)
    found = (
        load_query(root, source, fragments)
        for source in sorted(root.rglob("*.cypher"))
        if source.relative_to(root).parts[0] not in _NOT_QUERIES
    )
    return {query.name: query for query in found}


def load_fragments(root: Path) -> Mapping[str, Fragment]:
    """Read every fragment under `root`, by name.

    Raises:
        Misconfigured: A header is wrong; the message has file and line.
    """
    found: dict[str, Fragment] = {}
    for source in sorted((root / _FRAGMENTS).glob("*.cypher")):
        lines = source.read_text("utf-8").splitlines()
        header, body = _header(source, lines)
        found[source.stem] = Fragment(
            declared={key: _fields(source, header, key) for key in ("params", "returns", "each")},
            lines=tuple(lines[body:]),
            source=source,
        )
    return found


def load_query(root: Path, source: Path, fragments: Mapping[str, Fragment] | None = None) -> Query:
    """Read one query file, and compare declared with used parameters.

    Raises:
        Misconfigured: The header is missing or wrong, or a fragment; the message has file and
            line.
    """
    lines = source.read_text("utf-8").splitlines()
    header, body = _header(source, lines)
    declared = {key: _fields(source, header, key) for key in ("params", "returns", "each")}
    text = "\n".join(_expanded(source, lines, body, fragments or {}, declared)).strip()
    if not text:
        raise _malformed(source, body + 1, "there is no query under the header")
    for key in ("doc", "mode"):
        if key not in header:
            raise _malformed(source, 1, f"the header lacks `{key}:`")
    line, mode = header["mode"]
    if mode not in {known.value for known in Mode}:
        raise _malformed(source, line, f"mode is read, write or schema, not `{mode}`")
    params, each = declared["params"], declared["each"]
    used = set(_PARAMETER.findall(_OPAQUE.sub(" ", text)))
    if undeclared := used - params.keys():
        raise _malformed(source, 1, f"undeclared parameters: {', '.join(sorted(undeclared))}")
    if unused := params.keys() - used:
        raise _malformed(source, 1, f"unused parameters: {', '.join(sorted(unused))}")
    operator, _, reason = header.get("plan", (1, ""))[1].partition(" ")
    return Query(
        name=".".join(source.relative_to(root).with_suffix("").parts),
        doc=header["doc"][1],
        mode=Mode(mode),
        params=params,
        returns={"rows": "LIST<ANY>"} if each else declared["returns"],
        each=each,
        plan={operator: reason} if operator else {},
        text=text,
        source=source,
    )


def _expanded(
    source: Path,
    lines: Sequence[str],
    body: int,
    fragments: Mapping[str, Fragment],
    declared: dict[str, dict[str, str]],
) -> Iterator[str]:
    """Replace the `use` lines of a query by its fragments, and add their declarations."""
    for number, line in enumerate(lines[body:], start=body + 1):
        use = _USE.fullmatch(line)
        if use is None:
            yield line
            continue
        indent, name, variable = use.groups()
        if name not in fragments:
            raise _malformed(source, number, f"there is no fragment `{name}`")
        fragment = fragments[name]
        for key, names in fragment.declared.items():
            for one, kind in names.items():
                if declared[key].setdefault(one, kind) != kind:
                    raise _malformed(source, number, f"`{one}` is {kind} in the fragment `{name}`")
        shared = _expanded(fragment.source, fragment.lines, 0, fragments, declared)
        yield from (indent + _NODE.sub(variable, each) if each else "" for each in shared)


# Not the label Reembedding, which has the same name in every generation.
_VECTORS = re.compile(r"(?<![A-Za-z])embedding(_1)?(?!\w)")


def vector_name(generation: int) -> str:
    """Name the property of a generation's vectors; names of indexes end with it too.

    >>> vector_name(0), vector_name(2)
    ('embedding', 'embedding_2')
    """
    return f"embedding_{generation}" if generation else "embedding"


# Two fixed sets of names would be used again at the second change, by a process that slept through
# both (decision 0037).
def for_generation(query: Query, generation: int) -> Query:
    """Rewrite a query with the names of another generation of vectors.

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
    """Write the text query for all items of a tenant."""
    return _only(tenant)


def any_of(tenant: TenantId, stems: Sequence[str], required: Required | None = None) -> str:
    """Write the text query for a tenant's items with one of the stems and all required terms.

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
    """Write the text query for a tenant's items that contain one of the names as a phrase.

    Names are normalised: words with blanks between them.
    """
    phrases = (_PHRASE.format(_escaped(name)) for name in names)
    return f"{_only(tenant)} +({' '.join(phrases)})"


def _only(tenant: TenantId) -> str:
    return f"+tenant:{tenant}^0"


def _phrase(phrase: Phrase) -> str:
    """Write a phrase; with words allowed in between it also finds words further apart.

    Lucene counts moves: n words in any order need up to 2 (n - 1) moves to the order of the
    phrase, and one more for each word in between.
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
