"""A chat in two sessions, passages of documents, and a recall of them."""

from datetime import UTC, datetime, timedelta

from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
CHAT = (
    ("Ida", "I finally signed up for the pottery class on Tuesdays."),
    ("Bo", "Wonderful! What made you decide?"),
    ("Ida", "Clay calms me down after work, and the teacher is patient."),
    ("Bo", "I would rather fish; my new rod arrived."),
    ("Ida", "You and your trout."),
    ("Bo", "My sister adopted a parrot last week."),
    ("Ida", "A parrot? How loud is it?"),
)
PASSAGES = (
    ("Veldrin Lighthouse", "A lighthouse on the northern cape, designed by Orla Tamsin."),
    ("Orla Tamsin", "An engineer born in Quellmouth, known for iron bridges."),
    ("Quellmouth", "A mining town with a copper museum."),
    ("Harrow Bay", "A bay with seals and a ferry."),
    ("Copper", "A metal used in wires."),
    ("Iron Bridge Guild", "A society of builders that Orla Tamsin founded."),
)


def chat() -> list[NewEpisode]:
    return [
        NewEpisode(
            text=text,
            speaker=speaker,
            session=f"s{place // 4}",
            position=place,
            occurred_at=START + timedelta(days=7 * (place // 4)),
            metadata={"n": place},
        )
        for place, (speaker, text) in enumerate(CHAT)
    ]


def passages() -> list[NewEpisode]:
    return [NewEpisode(text=text, title=title) for title, text in PASSAGES]


async def fill(ingest: IngestService, tenant: TenantId, items: list[NewEpisode]) -> None:
    results = await ingest.append_batch(tenant, items)
    assert all(isinstance(one, Receipt) for one in results), results


async def ask(
    recalls: RecallService, tenant: TenantId, cue: str, **options: object
) -> RecallResult:
    return await recalls.recall(tenant, Cue(text=cue), RecallOptions(**options))  # type: ignore[arg-type]
