"""Generated lives of a person, questions about them, and what an agent stores when it is asked.

Everything follows from a seed. A detail has a fact, a question by its topic, and paraphrases of
the question; a life tells only some of the details, so that the others have no answer.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.ingest.service import IngestService
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import TenantId

__all__ = ["CASES", "Case", "Life", "Question", "echoes", "life", "store", "turns"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about a detail; without a fact nobody ever told it."""

    cue: str
    paraphrases: Sequence[str]
    replies: Sequence[str]
    fact: str | None


@dataclass(frozen=True, kw_only=True)
class Life:
    """What somebody told of himself, and questions about it."""

    facts: Sequence[str]
    questions: Sequence[Question]


@dataclass(frozen=True, kw_only=True)
class Case:
    """How a store was filled."""

    seed: int
    language: str
    role: str
    """`roles`: user and assistant; `none`; `speakers`: two names."""
    session: bool = True


CASES: Final = tuple(
    Case(seed=seed, language=language, role=role, session=bool(seed % 3))
    for seed, (language, role) in enumerate(
        (language, role)
        for language in ("en", "de")
        for role in ("roles", "none", "speakers", "roles", "none")
    )
)

_ENGLISH: Final = (
    # (fact, "what ..." after the subject's verb, topic in a sentence, values)
    ("My wife is called {}.", "my wife's name", "what my wife is called", "Ingrid Marta Salome"),
    ("My dog is called {}.", "my dog's name", "what my dog is called", "Biscuit Rollo Tilda"),
    ("I drive a {} car.", "the colour of my car", "which car I drive", "violet orange beige"),
    ("I was born in {}.", "my birthplace", "where I was born", "Odense Graz Leuven"),
    ("My dentist is Doctor {}.", "my dentist's name", "who my dentist is",
     "Okafor Lindqvist Roth"),
    ("I play the {} in a band.", "my instrument", "which instrument I play", "cello tuba oboe"),
    ("I work as a {} at the harbour.", "my job", "what my job is", "welder pilot clerk"),
    ("I am allergic to {}.", "my allergy", "what I am allergic to", "walnuts mussels celery"),
    ("My landlord asks {} euros of rent.", "my rent", "how high my rent is", "640 715 890"),
    ("My sister studies {}.", "my sister's subject", "what my sister studies",
     "law botany physics"),
    ("My favourite dish is {}.", "my favourite dish", "what my favourite dish is",
     "ramen moussaka borscht"),
    ("My daughter's birthday is the {} of June.", "my daughter's birthday",
     "when my daughter's birthday is", "3rd 12th 27th"),
)  # fmt: skip

_GERMAN: Final = (
    ("Meine Frau heißt {}.", "der Name meiner Frau", "wie meine Frau heißt",
     "Ingrid Marta Salome"),
    ("Mein Hund heißt {}.", "der Name meines Hundes", "wie mein Hund heißt", "Keks Rollo Tilda"),
    ("Mein Auto ist {}.", "die Farbe meines Autos", "welche Farbe mein Auto hat",
     "violett orange beige"),
    ("Ich wurde in {} geboren.", "mein Geburtsort", "wo ich geboren wurde", "Odense Graz Leuven"),
    ("Mein Zahnarzt ist Doktor {}.", "der Name meines Zahnarztes", "wer mein Zahnarzt ist",
     "Okafor Lindqvist Roth"),
    ("Ich spiele {} in einer Kapelle.", "mein Instrument", "welches Instrument ich spiele",
     "Cello Tuba Oboe"),
    ("Von Beruf bin ich {}.", "mein Beruf", "was ich von Beruf bin", "Schweißer Lotse Schreiber"),
    ("Meine Miete beträgt {} Euro.", "die Höhe meiner Miete", "wie hoch meine Miete ist",
     "640 715 890"),
    ("Meine Schwester studiert {}.", "das Fach meiner Schwester", "was meine Schwester studiert",
     "Jura Botanik Physik"),
    ("Am liebsten esse ich {}.", "mein Lieblingsessen", "was ich am liebsten esse",
     "Ramen Moussaka Borschtsch"),
)  # fmt: skip

_ASKED_ENGLISH: Final = (
    "What is {noun}?", "what is {noun}", "Do you know {clause}?", "I wonder {clause}.",
    "Tell me {clause}", "Hi! Could you please tell me {clause}? Thanks.",
    "Do you remember {clause}?",
    "Please remind me {clause}.", "I'd like to know {clause}.", "Can you tell me {noun}?",
    "Just curious, {clause}?", "Have I ever told you {clause}?", "So, what is {noun} again?",
    "Please look up {noun}", "I forgot {clause}, do you know?",
)  # fmt: skip
_ASKED_GERMAN: Final = (
    "Weißt du, {clause}?", "Sag mir bitte, {clause}.", "Ich frage mich, {clause}",
    "Erinnerst du dich, {clause}?", "Hallo! Kannst du mir sagen, {clause}? Danke.",
    "Was ist {noun}?", "Ich wüsste gern, {clause}.", "Habe ich dir schon erzählt, {clause}?",
)  # fmt: skip
_REPLIES_ENGLISH: Final = (
    "I don't know.", "You have not told me {clause}.", "You haven't told me yet.",
    "I'm sorry, I have no information about {noun}.",
    "I do not know {clause}. Do you want to tell me?",
    "There is nothing about {noun} in my memory.", "Unfortunately, I don't recall {noun}.",
    "As an AI I can't know {clause} unless you tell me.", "{noun} has not come up so far.",
    'The user asked "{clause}" and I said that I do not know.',
    "Asked about {noun}; no answer known.",
)  # fmt: skip
_REPLIES_GERMAN: Final = (
    "Das weiß ich nicht.", "Du hast mir noch nicht gesagt, {clause}.", "Keine Ahnung.",
    "Leider habe ich dazu keine Informationen.", "Ich weiß leider nicht, {clause}.",
    "Das hast du mir noch nicht erzählt.", "Auf die Frage, {clause}, ist keine Antwort bekannt.",
)  # fmt: skip


def life(case: Case) -> Life:
    """Make a life: two thirds of the details are told, and all are asked."""
    chance = random.Random(case.seed)  # noqa: S311 (a story, no secret)
    english = case.language == "en"
    details = list(_ENGLISH if english else _GERMAN)
    chance.shuffle(details)
    asked, replies = (
        (_ASKED_ENGLISH, _REPLIES_ENGLISH) if english else (_ASKED_GERMAN, _REPLIES_GERMAN)
    )
    told = 2 * len(details) // 3
    questions, facts = [], []
    for place, (fact, noun, clause, values) in enumerate(details):
        words = {"noun": noun, "clause": clause}
        forms = [form.format(**words) for form in chance.sample(asked, 5)]
        text = fact.format(chance.choice(values.split())) if place < told else None
        facts += [] if text is None else [text]
        questions.append(
            Question(
                cue=forms[0],
                paraphrases=forms,
                replies=[reply.format(**words) for reply in chance.sample(replies, 3)],
                fact=text,
            )
        )
    chance.shuffle(questions)
    return Life(facts=facts, questions=questions)


def echoes(question: Question, case: Case) -> list[tuple[str, str]]:
    """List what an agent stores when a question is asked again and again: speaker and text."""
    chance = random.Random(f"{case.seed} {question.cue}")  # noqa: S311
    stored: list[tuple[str, str]] = []
    for turn in range(chance.randint(1, 6)):
        form = question.cue if turn == 0 else chance.choice(question.paraphrases)
        stored.append(("user", form))
        if chance.random() < 0.6:
            stored.append(("assistant", chance.choice(question.replies)))
    return stored


def turns(said: Sequence[tuple[str, str]], case: Case, session: str) -> list[NewEpisode]:
    """Write turns as the case stores them."""
    names = {"user": "Mira", "assistant": "Helper"}
    return [
        NewEpisode(
            text=text,
            role=who if case.role == "roles" else None,
            speaker=names[who] if case.role == "speakers" else None,
            session=session if case.session else None,
            idempotency_key=f"{session} {place} {text}",
        )
        for place, (who, text) in enumerate(said)
    ]


async def store(
    ingest: IngestService, tenant: TenantId, said: list[tuple[str, str]], case: Case, session: str
) -> None:
    """Append turns to a session; none is refused."""
    results = await ingest.append_batch(tenant, turns(said, case, session))
    assert all(isinstance(one, Receipt) for one in results), results
