"""Measure a store before and after the questions of its user were stored in it.

    python -m scripts.measure_echoes --seed 7

The store is made up: about 300 messages of a user and a coding assistant over three months, with
20 facts, 10 facts that change, 6 questions about details that nobody told (near misses), and
6 about matters that nobody mentioned. Each question is
then stored as agents do it, in three forms, with a reply that tells nothing. `ECPHORIA_NEO4J__URI`
names a running Neo4j; without it a local one is started.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.table import Table

from ecphoria import runtime as loop
from ecphoria.app import Services, build
from ecphoria.calibration.separation import auroc
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.settings import Settings, read_settings
from ecphoria.telemetry import configure_logging

_START = datetime(2026, 2, 2, 9, tzinfo=UTC)
_SESSIONS, _TURNS = 30, 10
_FACTS = (
    ("I maintain Tidewatch, a service that reads tide gauges.", "What does my service read?"),
    ("My name is Odile and I work for the harbour office.", "Which office do I work for?"),
    ("Please write type hints in every Python example.", "What do I want in Python examples?"),
    ("Our database is PostgreSQL 16 with the Timescale extension.", "Which database do we use?"),
    ("Henrik reviews all my pull requests.", "Who reviews my pull requests?"),
    ("The gauges send their readings by LoRaWAN.", "How do the gauges send readings?"),
    ("I prefer tabs in shell scripts and spaces in Python.", "What do I indent with in Python?"),
    ("Production runs in a rack in Bremerhaven.", "Where does production run?"),
    ("We tag a release every second Thursday.", "When do we tag a release?"),
    ("My editor is Helix.", "Which editor do I use?"),
    ("The calibration file is called gauges.toml.", "What is the calibration file called?"),
    ("I use structlog for all logs.", "Which library do I use for logs?"),
    ("The alarm threshold is 430 centimetres.", "What is the alarm threshold?"),
    ("Nadia does the design of our dashboards.", "Who designs our dashboards?"),
    ("Our tests run on a GitLab runner named Heron.", "What is our GitLab runner named?"),
    ("I dropped Celery since its retries lost readings.", "Why did I drop Celery?"),
    ("The public API answers in GeoJSON.", "In which format does the public API answer?"),
    ("Backups go to a NAS in the lighthouse.", "Where do backups go?"),
    ("I never work on Wednesday afternoons.", "When do I never work?"),
    ("Secrets are in a vault that Henrik runs.", "Who runs the vault of secrets?"),
)
_CHANGED = (
    ("The worker pool has {} processes.", "How many processes does the worker pool have?", "4",
     "12"),
    ("Readings are kept for {} days.", "How many days are readings kept?", "90", "400"),
    ("We deploy with {}.", "What do we deploy with?", "Ansible", "Nomad"),
    ("The dashboard is written in {}.", "What is the dashboard written in?", "Vue", "Svelte"),
    ("Our staging host is {}.", "What is our staging host?", "puffin", "gannet"),
    ("The polling interval is {} seconds.", "What is the polling interval?", "60", "15"),
    ("The team meets on {}.", "When does the team meet?", "Mondays", "Fridays"),
    ("The cache is {}.", "Which cache do we have?", "Redis", "Valkey"),
    ("My laptop runs {}.", "What does my laptop run?", "Fedora", "NixOS"),
    ("Alerts go to the channel {}.", "To which channel do alerts go?", "tide-ops", "water-watch"),
)  # fmt: skip
_NEAR_MISSES = (
    "How old is Henrik?", "Which city does Nadia live in?", "What does the rack cost a month?",
    "Who built the lighthouse?", "Which licence does Tidewatch have?",
    "What is the password of the runner Heron?",
)  # fmt: skip
_NEVER_TOLD = (
    "What is my wife's name?", "When is my birthday?", "Which school did I go to?",
    "What am I allergic to?", "Which football team do I support?", "What is my dog called?",
)  # fmt: skip
_UNKNOWN = (*_NEAR_MISSES, *_NEVER_TOLD)
_TOPICS = (
    "the parser of gauge frames", "a slow query", "the retry loop", "the Dockerfile",
    "a flaky test", "the migration script", "an import cycle", "the chart legend", "a memory leak",
    "the CLI flags",
)  # fmt: skip
_ASKED = (
    "Can you help me with {}?",
    "I am stuck with {} again.",
    "Next is {}; it fails at times.",
)
_REPLIED = (
    "Sure. Let us look at {}: first reproduce it with a small input, then bisect.",
    "For {} I would add a test, then split the function in two.",
    "The cause in {} is probably a missing timeout; log the steps and compare.",
)
_FORMS = ("{}", "Hi! {} Thanks.", "Sorry to ask again: {}")
_REPLIES = ("You have not told me that.", "I don't know.", "I have no information about it.")


@dataclass(slots=True)
class Story:
    """The turns of each session of a store, as role and text."""

    sessions: list[list[tuple[str, str]]] = field(default_factory=list)

    @property
    def messages(self) -> int:
        """Messages in all."""
        return sum(map(len, self.sessions))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    recall: float
    first: float
    refused: tuple[int, int]
    auroc: float
    newest: int
    passed: int


def tell(seed: int) -> Story:
    """Make the story: filler around the statements, old values in the first half."""
    chance = random.Random(seed)  # noqa: S311 (a story, no secret)
    story = Story([[] for _ in range(_SESSIONS)])
    for session in story.sessions:
        while len(session) < _TURNS:
            topic = chance.choice(_TOPICS)
            session.append(("user", chance.choice(_ASKED).format(topic)))
            session.append(("assistant", chance.choice(_REPLIED).format(topic)))
    free = [(session, place) for session in range(_SESSIONS) for place in range(0, _TURNS, 2)]
    chance.shuffle(free)
    for form, _, old, new in _CHANGED:
        # The new value is told in a later place than the old one.
        first, second = sorted((free.pop(), free.pop()))
        for (session, place), value in ((first, old), (second, new)):
            story.sessions[session][place] = ("user", form.format(value))
    for text, _ in _FACTS:
        session, place = free.pop()
        story.sessions[session][place] = ("user", text)
    return story


async def _measure(settings: Settings, seed: int) -> None:
    services = await build(settings)
    try:
        tenant = (await services.tenancy.create_tenant(f"echoes-{seed}")).id
        story = tell(seed)
        for number, session in enumerate(story.sessions):
            await _store(services, tenant, session, number)
        before = await _ask(services, tenant)
        questions = [*(cue for _, cue in _FACTS), *(one[1] for one in _CHANGED), *_UNKNOWN]
        for number, cue in enumerate(questions, _SESSIONS):
            turns = [
                turn
                for form, reply in zip(_FORMS, _REPLIES, strict=True)
                for turn in (("user", form.format(cue)), ("assistant", reply))
            ]
            await _store(services, tenant, turns, number)
        after = await _ask(services, tenant)
        _print(story, before, after)
        await services.tenancy.erase_tenant(f"echoes-{seed}")
    finally:
        await services.close()


async def _store(
    services: Services, tenant: TenantId, turns: Sequence[tuple[str, str]], number: int
) -> None:
    begun = _START + timedelta(days=3 * number)
    results = await services.ingest.append_batch(
        tenant,
        [
            NewEpisode(
                text=text, role=role, session=f"s{number}", position=place,
                occurred_at=begun + timedelta(minutes=place),
            )
            for place, (role, text) in enumerate(turns)
        ],
    )  # fmt: skip
    assert all(isinstance(one, Receipt) for one in results), results


async def _ask(services: Services, tenant: TenantId) -> _Figures:
    """Ask all questions; a changed fact counts as found by its newest statement."""
    wanted = [(cue, text, None) for text, cue in _FACTS]
    wanted += [(cue, form.format(new), form.format(old)) for form, cue, old, new in _CHANGED]
    found, first, newest, sure = 0, 0, 0, list[float]()
    passed = 0
    for cue, text, old in wanted:
        result = await services.recall.recall(tenant, Cue(text=cue), RecallOptions(k=10))
        texts = [hit.episode.text for hit in result.hits]
        found += text in texts
        first += texts[:1] == [text]
        passed += not result.verdict.refused
        sure.append(result.confidence)
        if old is not None and text in texts:
            newest += old not in texts or texts.index(text) < texts.index(old)
    refused, unsure = [0, 0], list[float]()
    for cue in _UNKNOWN:
        result = await services.recall.recall(tenant, Cue(text=cue), RecallOptions(k=10))
        refused[cue in _NEVER_TOLD] += result.verdict.refused
        unsure.append(result.confidence)
    return _Figures(
        recall=found / len(wanted), first=first / len(wanted), refused=(refused[0], refused[1]),
        auroc=auroc(sure, unsure) or 0.0, newest=newest, passed=passed,
    )  # fmt: skip


def _print(story: Story, before: _Figures, after: _Figures) -> None:
    table = Table("figure", "before", "after", title=f"{story.messages} messages")
    answerable = len(_FACTS) + len(_CHANGED)
    for name, write in (
        ("R@10", lambda one: f"{one.recall:.3f}"),
        ("first hit", lambda one: f"{one.first:.3f}"),
        (f"refused of {len(_NEAR_MISSES)} near misses", lambda one: str(one.refused[0])),
        (f"refused of {len(_NEVER_TOLD)} never mentioned", lambda one: str(one.refused[1])),
        (f"passed of {answerable} with an answer", lambda one: str(one.passed)),
        ("AUROC", lambda one: f"{one.auroc:.3f}"),
        (f"newest above outdated, of {len(_CHANGED)}", lambda one: str(one.newest)),
    ):
        table.add_row(name, write(before), write(after))
    Console().print(table)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    settings = read_settings(log={"level": "warning"})
    configure_logging(settings.log.level, settings.log.format)
    loop.run(_measure(settings, given.seed))


if __name__ == "__main__":
    main()
