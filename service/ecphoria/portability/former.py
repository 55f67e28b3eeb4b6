"""Read copies of the last version before the first release.

They have properties that are no longer used, and jobs of a kind that no longer exists.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ecphoria.neo4j_store.shapes import GONE
from ecphoria.records.job import ENDED, JobKind, JobState, Trigger
from ecphoria.records.upkeep import CopiedNode, Manifest, Record, Value

FORMER: Final = "schema.0022_pre_engrams"
FIRST_RELEASE: Final = "schema.0100_baseline"


def carried_over(records: Iterator[Manifest | Record]) -> Iterator[Manifest | Record]:
    """Convert the records of such a copy to those of the first release; keep others unchanged."""
    former = False
    for record in records:
        if isinstance(record, Manifest) and record.migration == FORMER:
            former = True
            yield replace(record, migration=FIRST_RELEASE)
        elif former and isinstance(record, CopiedNode) and isinstance(record.properties, Mapping):
            yield replace(record, properties=_properties(record.labels, record.properties))
        else:
            yield record


def _properties(labels: tuple[str, ...], given: Mapping[str, Value]) -> Mapping[str, Value]:
    kept = {name: value for name, value in given.items() if name not in GONE}
    if "Job" not in labels:
        return kept
    if kept.get("trigger") == "start":
        kept["trigger"] = Trigger.REQUEST.value
    if kept.get("kind") == "passages":
        # A dry run is the kind whose report no later cycle looks at.
        kept["kind"] = JobKind.DRY_RUN.value
        if kept.pop("slot", None) is not None or kept.get("state") not in ENDED:
            kept["state"] = JobState.CANCELLED.value
    return kept
