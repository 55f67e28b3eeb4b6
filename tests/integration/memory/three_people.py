"""A chat of three people for tests of the gate."""

from ecphoria.ingest.service import IngestService
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import TenantId

CHAT = (
    ("Ida", "I finally signed up for the pottery class on Tuesdays."),
    ("Bo", "Wonderful! What made you decide?"),
    ("Ida", "Clay calms me down after work, and the teacher is patient."),
    ("Bo", "I would rather fish; my new rod arrived yesterday."),
    ("Ida", "You and your trout."),
    ("Bo", "My sister adopted a parrot last week."),
    ("Cleo", "I repaired the brass telescope in the attic."),
)


async def fill(
    ingest: IngestService, tenant: TenantId, chat: tuple[tuple[str, str], ...] = CHAT
) -> None:
    results = await ingest.append_batch(
        tenant,
        [
            NewEpisode(text=text, speaker=speaker, session="s", position=place)
            for place, (speaker, text) in enumerate(chat)
        ],
    )
    assert all(isinstance(one, Receipt) for one in results), results
