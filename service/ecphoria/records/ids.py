"""Types of ids: our own UUIDs as text; internal ids of Neo4j are never used."""

import re
import uuid
from typing import Final, NewType

ID_FORM: Final = "[0-9a-f]{32}"
ID: Final = re.compile(ID_FORM)
"""The form of our ids."""

TenantId = NewType("TenantId", str)
EpisodeId = NewType("EpisodeId", str)
ConceptId = NewType("ConceptId", str)
FactId = NewType("FactId", str)
TraceId = NewType("TraceId", str)
KeyId = NewType("KeyId", str)
JobId = NewType("JobId", str)


def fresh_id() -> str:
    """Make a random id: 32 lower-case hex digits, one alphanumeric token for the text index."""
    return uuid.uuid4().hex


def derived_id(tenant: TenantId, kind: str, key: str) -> str:
    """Derive the id that `key` always has in `tenant`, so that writing it again finds it."""
    return uuid.uuid5(uuid.UUID(tenant), f"{kind}:{key}").hex


def concept_id(tenant: TenantId, normalised: str) -> ConceptId:
    """Derive the id that a concept of this normalised name has."""
    return ConceptId(derived_id(tenant, "concept", normalised))
