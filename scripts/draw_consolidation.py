"""Draw what a cycle of consolidation does to the sample conversation, and count what it costs.

`python -m scripts.draw_consolidation SERVICE KEY_FILE BOLT PASSWORD_FILE TARGET.svg` stores the
shipped conversation through a service, in a tenant of its own, runs a cycle, prints the edges
before and after, and draws four sessions before and after.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import neo4j
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from ecphoria import Client
from ecphoria.demo.sample import sample_conversation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TENANT = "draw-consolidation"
_GREY, _SAND, _PINK, _TEAL = "#9aa5a3", "#dcc88f", "#c2477f", "#2a8c82"
_SESSIONS, _TURNS = 4, 16
_EDGES = """
MATCH (a)-[r]->(b) WHERE a.tenant = $tenant
RETURN type(r) AS type, coalesce(a.id, a.name) AS tail, coalesce(b.id, b.name) AS head,
  a.session AS tail_session, b.session AS head_session, r.weight AS weight, a.kind AS kind
"""
_TURNS_OF = """
MATCH (e:Episode) WHERE e.tenant = $tenant
RETURN e.id AS id, e.session AS session, e.ordinal AS ordinal ORDER BY session, ordinal
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The tenant's graph at one time."""

    edges: Sequence[Mapping[str, Any]]

    def counts(self) -> Counter[str]:
        """Count edges by type."""
        return Counter(edge["type"] for edge in self.edges)


def main(service: str, key: Path, bolt: str, password: Path, target: Path) -> None:
    """Store, consolidate, count, draw."""
    auth = ("neo4j", password.read_text(encoding="utf-8").strip())
    secret = key.read_text(encoding="utf-8").strip()
    with neo4j.GraphDatabase.driver(bolt, auth=auth) as driver:
        with Client(service, secret) as operator:
            tenant = operator.admin.create_tenant(_TENANT).id
        with Client(service, secret, tenant=_TENANT, timeout=300) as client:
            client.append_batch(list(sample_conversation()))
            before = _snapshot(driver, tenant)
            client.consolidate()
            after = _snapshot(driver, tenant)
        turns = [row.data() for row in driver.execute_query(_TURNS_OF, tenant=tenant).records]
        with Client(service, secret) as operator:
            operator.admin.erase_tenant(_TENANT)
    _tell(before, after, len(turns))
    _draw(before, after, turns, target)


def _snapshot(driver: neo4j.Driver, tenant: str) -> Snapshot:
    rows = driver.execute_query(_EDGES, tenant=tenant).records
    return Snapshot(edges=[row.data() for row in rows])


def _tell(before: Snapshot, after: Snapshot, episodes: int) -> None:
    one, two = before.counts(), after.counts()
    for kind in sorted(one | two):
        sys.stdout.write(f"{kind:12} {one[kind]:6} {two[kind]:6}\n")
    first, second = one.total() / episodes, two.total() / episodes
    sys.stdout.write(f"of {episodes} episodes, each {first:.2f}, then {second:.2f} edges\n")


def _draw(
    before: Snapshot, after: Snapshot, turns: Sequence[Mapping[str, Any]], target: Path
) -> None:
    """Put sessions in rows, turns in their order, what is mentioned above."""
    similar = [edge for edge in after.edges if edge["type"] == "SIMILAR"]
    joined = Counter(end for e in similar for end in (e["tail_session"], e["head_session"]))
    rows = sorted(session for session, _ in joined.most_common(_SESSIONS))
    place = {
        turn["id"]: (float(turn["ordinal"]), float(-rows.index(turn["session"])))
        for turn in turns
        if turn["session"] in rows and turn["ordinal"] < _TURNS
    }
    of_sessions = [e for e in after.edges if e["type"] == "EVIDENCE" and e["kind"] == "session"]
    quoted = [edge for edge in of_sessions if edge["head"] in place]
    with rc_context({"svg.hashsalt": "ecphoria", "font.size": 8, "svg.fonttype": "none"}):
        figure = Figure(figsize=(8.4, 3.2), layout="constrained")
        for axes, snapshot, title in zip(
            figure.subplots(1, 2, sharey=True), (before, after), ("before", "after"), strict=True
        ):
            _panel(axes, snapshot, place, rows)
            axes.set_title(title)
        _engrams(figure.axes[1], quoted, place)
        figure.savefig(target, metadata={"Date": None})


def _panel(
    axes: "Axes", snapshot: Snapshot, place: Mapping[str, tuple[float, float]], rows: Sequence[str]
) -> None:
    for edge in snapshot.edges:
        if edge["tail"] not in place or edge["head"] not in place:
            continue
        one, other = place[edge["tail"]], place[edge["head"]]
        if edge["type"] == "NEXT":
            axes.plot(*zip(one, other, strict=True), color=_GREY, lw=1, zorder=1)
        elif edge["type"] == "SIMILAR":
            bend = 0.35 if one[1] == other[1] else 0.08
            arc = FancyArrowPatch(
                one, other, arrowstyle="-", connectionstyle=f"arc3,rad={bend}", color=_PINK,
                lw=2.4 * edge["weight"], alpha=0.8, zorder=2,
            )  # fmt: skip
            axes.add_patch(arc)
    for edge in snapshot.edges:
        if edge["type"] == "MENTIONS" and edge["tail"] in place:
            x, y = place[edge["tail"]]
            axes.plot([x, x], [y, y + 0.22], color=_SAND, lw=1, zorder=1)
            axes.plot([x], [y + 0.22], ".", color=_SAND, ms=4, zorder=1)
    axes.plot(*zip(*place.values(), strict=True), "o", color="#40514e", ms=4, zorder=3)
    axes.set_yticks([-row for row in range(len(rows))], rows)
    axes.set_xlim(-0.6, _TURNS + 0.8)
    axes.set_ylim(-len(rows) + 0.5, 0.6)
    axes.set_xticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _engrams(
    axes: "Axes", quoted: Sequence[Mapping[str, Any]], place: Mapping[str, tuple[float, float]]
) -> None:
    for edge in quoted:
        x, y = place[edge["head"]]
        arc = FancyArrowPatch(
            (_TURNS + 0.2, y), (x, y), arrowstyle="-", connectionstyle="arc3,rad=-0.12",
            color=_TEAL, lw=0.9, zorder=1,
        )  # fmt: skip
        axes.add_patch(arc)
        axes.plot([_TURNS + 0.2], [y], "D", color=_TEAL, ms=6, zorder=3)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))
