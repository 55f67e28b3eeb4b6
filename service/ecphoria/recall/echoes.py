"""Echoes: earlier turns that only ask, or only say that nobody knows, and tell nothing more.

An agent stores the questions of its user. Asked again, a question would be its own best answer. So
these turns are removed before the ranking: words, vectors, positions in a session and statistics
are those of a store without them. They are returned below all other hits, with a mark.

One kind of echo still lends its words: a question to which another person replied with a
statement. The reply often has no word of the question ("It is Dune"). The question itself is
ranked like other echoes. A user's question to an assistant does so for a cue that asks what the
assistant said.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ecphoria.maths.lexical import count_terms
from ecphoria.recall.frame import Frame, gather
from ecphoria.recall.outdated import raised
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import Echo
from ecphoria.recall.scope import RecallStore, Scope, ScopedStore
from ecphoria.recall.seeds import Seeding, searched_stems
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import PathStep
from ecphoria.records.traced import Stream
from ecphoria.text.asking import Asking, Saying, asks_openly, content_stems, names_and_numbers
from ecphoria.text.terms import terms
from ecphoria.text.tokens import denies, words

# A question that was stored is nearest to itself: without this rule, storing an unanswered
# question turned a refusal into an answer (decision 0044).
ECHO: Final = "echo"
"""The part of a score that puts an echo below all other hits."""

# The cosine alone cannot decide: a memory that answers is often as near to the question as a
# paraphrase of it (decision 0044).
NEAR: Final = 0.8
"""Cosine from which a turn that only asks is an echo, in any words."""

# A longer request to an assistant states a need, so it stays evidence (decision 0044).
_FEW_WORDS = 3
"""Largest number of own words of an echo that only asks."""

_ROUNDS = 4
"""Largest number of further searches, if echoes fill the results of the indexes."""

ABOUT_QUESTIONS: Final = re.compile(
    r"\b(?:did|have|had)\s+\w+\s+(?:\w+\s+)?ask(?:ed)?\b|\basked\b|\bquestions\b|\bgefragt\b"
    r"|\bfragte\w?\b|\bfragen habe\b",
    re.IGNORECASE,
)
"""A cue about what was asked: for this cue questions are evidence."""

REPEATED: Final = "repeated"
"""The part of a score that raises a memory to the place of a reply that repeats it."""

_DEEPEST: Final = 60
"""Number of ranked memories in which replies and what they repeat are looked for."""

# At two fifths lists and scores are about the same, at one fifth 1 MRR worse (decision 0100).
_OTHER_WORDS: Final = 1 / 3
"""Share of a reply's words that the memory may lack; none of them is a name or number."""

Repeats = Mapping[EpisodeId, EpisodeId]
"""For each reply that only repeats a memory this memory."""

_Stored = tuple[str | None, int]
"""The session and the ordinal of a turn, as they are stored."""


def find_echoes(
    cue: str,
    frame: Frame,
    scope: Scope,
    excuses: Collection[_Stored],
    *,
    asks_listener: bool = False,
) -> tuple[Echo, ...]:
    """Find the candidates that only ask, or only say that nobody knows.

    A turn that ends with a question and has no word that the cue lacks is one too: "The build is
    red. How did we mend it?" tells nothing to a cue with the same words. A question to which the
    assistant replied that it does not know is one too, unless it has a name that the cue and
    every other memory lack.

    The frame was gathered in `scope`: ordinals in it are places without echoes. `excuses` are
    echoes that were left out and said "I don't know". With `asks_listener`, the cue asks what the
    listener said, so a user's request lends its words to the assistant's reply too.
    """
    if ABOUT_QUESTIONS.search(cue):
        return ()
    asked = frozenset((*terms(cue).every, *words(cue))) | names_and_numbers(cue)
    openly = asks_openly(cue)
    # What a turn does is read only of turns that may be echoes by the number of their own words.
    few = frame.cosine >= NEAR
    short = np.flatnonzero(frame.own <= len(asked) + _FEW_WORDS)
    common = count_terms([frame.terms[row] for row in short], sorted(asked), {}) > 0.0
    few[short] |= frame.own[short] - common.sum(axis=1) <= _FEW_WORDS
    return tuple(
        Echo(
            id=frame.id[row],
            session=frame.session[row],
            ordinal=scope.ordinal(frame.session[row], int(frame.ordinal[row])),
            terms=frozenset(frame.terms[row].split()),
            length=float(frame.length[row]),
            cosine=float(frame.cosine[row]),
            visible=bool(frame.inside[row]),
            lends=_answered(row, frame, asks_listener=asks_listener),
        )
        for row in np.flatnonzero(few | frame.is_question).tolist()
        if (
            few[row]
            and _is_echo(frame.spoken[row].asking, asked, float(frame.cosine[row]), openly=openly)
        )
        or (frame.is_question[row] and _stayed_open(row, frame, asked, scope, excuses))
        or (frame.is_question[row] and _is_repeated(frozenset(frame.terms[row].split()), asked))
    )


def _stayed_open(
    row: int, frame: Frame, asked: frozenset[str], scope: Scope, excuses: Collection[_Stored]
) -> bool:
    """Tell whether an assistant replied to a user's question that it does not know."""
    if not _only_asks(row, frame):
        return False
    reply = int(frame.following[row])
    left_out = _after(row, frame, scope) in excuses
    if not left_out and not (reply >= 0 and _is_excuse(reply, frame)):
        return False
    return _is_told(frame.spoken[row].asking.told - asked, frame)


def _is_told(names: frozenset[str], frame: Frame) -> bool:
    """Tell whether there are no names, or one candidate that does not ask has all of them."""
    # "Is my flight on 4 May?" tells the day if nothing else does (decision 0086).
    if not names:
        return True
    found = count_terms(frame.terms, sorted(names), {}) > 0.0
    return bool((found.all(axis=1) & ~frame.is_question).any())


def _is_excuse(row: int, frame: Frame) -> bool:
    """Tell whether an assistant says that it does not know."""
    return not frame.by_user[row] and frame.spoken[row].asking.saying is Saying.DOES_NOT_KNOW


def _is_repeated(told: frozenset[str], asked: frozenset[str]) -> bool:
    """Tell whether a question has topical words, and all of its words are in the cue."""
    return told <= asked and bool(content_stems(told))


def _is_echo(asking: Asking, asked: frozenset[str], cosine: float, *, openly: bool) -> bool:
    """Tell whether a turn has no name, and only few words, that the cue lacks.

    A turn that states something is an echo only if it has no own word, speaks of asking or
    knowing, and the cue asks for a value. This finds forms without a rule: "Asked about the
    wedding date, nothing on file."
    """
    # Where the cue asks yes or no, or who does something, its words are the answer, so such a turn
    # stays evidence (decision 0044).
    if asking.saying is Saying.STATES:
        return openly and bool(asking.content) and asking.content | asking.told <= asked
    if not asking.content:
        return asking.saying is Saying.DOES_NOT_KNOW
    few = len(asking.content - asked) <= _FEW_WORDS
    return asking.told <= asked and (few or cosine >= NEAR)


def _answered(row: int, frame: Frame, *, asks_listener: bool) -> bool:
    """Tell whether another person replied to a question with a statement.

    Replies of an assistant to its user count only if the cue asks for them: they repeat the
    matter, or do not answer.
    """
    reply = int(frame.following[row])
    saying = frame.spoken[row].asking.saying
    asks = saying is Saying.ASKS or (saying is Saying.STATES and bool(frame.is_question[row]))
    if not asks or reply < 0 or (frame.by_user[row] and not asks_listener):
        return False
    who = frame.role[row], frame.speaker[row]
    other = frame.role[reply], frame.speaker[reply]
    known = any(who) and any(other) and who != other
    replied = frame.spoken[reply].asking.saying
    # An assistant may suggest by a question: "How about a weekend in Bruges?"
    return known and (replied is Saying.STATES or (asks_listener and replied is Saying.ASKS))


def _without(store: RecallStore, echoes: Sequence[Echo]) -> ScopedStore:
    """Read as if these echoes were never stored."""
    # A penalty would leave the bounds of the signals, the lead of the first hit and the
    # statistics distorted (decision 0044).
    gone: dict[str, list[int]] = {}
    for echo in sorted(echoes, key=lambda one: one.ordinal):
        if echo.session is not None:
            gone.setdefault(echo.session, []).append(echo.ordinal)
    return _scoped(store).without(frozenset(echo.id for echo in echoes), gone)


def _scoped(store: RecallStore) -> ScopedStore:
    """Give a store a scope that hides nothing, if it has none."""
    return store if isinstance(store, ScopedStore) else ScopedStore(store, Scope())


async def leave_out_echoes(search: Search, limit: int) -> Search:
    """Search again as if the cue's echoes were not stored; unchanged if there is none."""
    cue = search.seeding.cue
    whole, known = search, dict[EpisodeId, Echo]()
    scope, excuses = Scope(), set[_Stored]()
    asks_listener = search.seeding.analysis.only_listener
    for _ in range(_ROUNDS):
        frame = search.frame
        every = find_echoes(cue, frame, scope, excuses, asks_listener=asks_listener)
        found = [echo for echo in every if echo.id not in known]
        if not found:
            break
        known.update((echo.id, echo) for echo in found)
        excuses.update(
            (echo.session, echo.ordinal) for echo in found if _is_excuse(frame.row[echo.id], frame)
        )
        silent = [echo for echo in known.values() if not echo.lends]
        view = _without(whole.store, silent)
        scope = view.scope
        seeding = await _seeded(whole, view, silent, limit)
        frame = await gather(view, search.tenant, seeding, search.filters)
        search = replace(search, store=view, seeding=seeding, frame=frame)
    if not known:
        return search
    lending = {echo.id for echo in known.values() if echo.lends}
    heard = np.array([episode not in lending for episode in search.frame.id], dtype=np.bool_)
    return replace(
        search,
        frame=replace(search.frame, inside=search.frame.inside & heard),
        echoes=tuple(sorted(known.values(), key=lambda echo: (-echo.cosine, echo.id))),
        unanswered=frozenset(_unanswered(search.frame, scope, excuses) - known.keys()),
    )


def _unanswered(frame: Frame, scope: Scope, excuses: Collection[_Stored]) -> set[EpisodeId]:
    """Find the user's questions whose reply was left out, as it says that nobody knows."""
    return {
        frame.id[row]
        for row in (np.flatnonzero(frame.by_user).tolist() if excuses else ())
        if _after(row, frame, scope) in excuses and _only_asks(row, frame)
    }


def _after(row: int, frame: Frame, scope: Scope) -> _Stored:
    """Tell the stored place after a turn."""
    return frame.session[row], scope.ordinal(frame.session[row], int(frame.ordinal[row])) + 1


async def _seeded(
    search: Search, view: ScopedStore, echoes: Sequence[Echo], limit: int
) -> Seeding:
    """Take the echoes out of the seeds and of the statistics; fill the seeds up again."""
    seeding, tenant, filters = search.seeding, search.tenant, search.filters
    by_text, by_vector = view.moved(seeding.by_text), view.moved(seeding.by_vector)
    if len(by_text) < len(seeding.by_text) >= limit:
        wanted = searched_stems(seeding.analysis, seeding.reading)
        by_text = list(await view.seeds_by_text(tenant, wanted, limit, filters))
    if seeding.vector is not None and len(by_vector) < len(seeding.by_vector) >= limit:
        by_vector = list(await view.seeds_by_vector(tenant, seeding.vector, limit, filters))
    profile = seeding.profile
    items = max(1, profile.items - len(echoes))
    length = profile.mean_length * profile.items - sum(echo.length for echo in echoes)
    return replace(
        seeding,
        by_text=by_text,
        by_vector=by_vector,
        by_passage=view.moved(seeding.by_passage),
        by_statement=view.moved(seeding.by_statement),
        by_date=view.moved(seeding.by_date),
        terms={
            stem: replace(
                count, items=max(0, count.items - sum(stem in echo.terms for echo in echoes))
            )
            for stem, count in seeding.terms.items()
        },
        profile=replace(profile, items=items, mean_length=max(1.0, length / items)),
    )


def put_last(search: Search, ranked: Ranked) -> Ranked:
    """Put the cue's echoes below all other memories, nearest first.

    Other questions that stayed open stand right above them.
    """
    if not search.echoes:
        return ranked
    by_id = {echo.id: echo for echo in search.echoes}
    others = [row for row, one in enumerate(ranked.ids) if one not in by_id]
    kept = ranked.kept(sorted(others, key=lambda row: ranked.ids[row] in search.unanswered))
    shown = [echo for echo in search.echoes if echo.visible]
    size = len(kept.ids)
    parts = np.zeros((size + len(shown), len(kept.part_names) + 1))
    parts[:size, :-1] = kept.parts
    lowest = np.minimum.accumulate(kept.score)
    parts[:size, -1] = lowest - kept.score
    parts[size:, -1] = min(0.0, float(lowest[-1]) if size else 0.0)

    def path(episode: EpisodeId) -> tuple[PathStep, ...]:
        echo = by_id.get(episode)
        if echo is None:
            return ranked.path(episode)
        step = PathStep(
            node=episode, kind="episode", edge=Stream.VECTOR, label="", energy=echo.cosine
        )
        return (step,)

    return replace(
        ranked,
        ids=(*kept.ids, *(echo.id for echo in shown)),
        parts=parts,
        part_names=(*kept.part_names, ECHO),
        path=path,
    )


def join_repeats(search: Search, ranked: Ranked, cue: str) -> tuple[Ranked, Repeats]:
    """Put each repeated memory at the place of its best reply, and take the replies out.

    Nothing changes for a cue that asks what was said or asked.
    """
    if search.seeding.analysis.only_listener or ABOUT_QUESTIONS.search(cue):
        return ranked, {}
    found = _find_repeats(search, ranked)
    if not found:
        return ranked, found
    lifted = raised(ranked, [(reply, {source}) for reply, source in found.items()], REPEATED)
    rows = [row for row, one in enumerate(lifted.ids) if one not in found]
    frame = search.frame
    in_time = sorted(found, key=lambda reply: int(frame.turn[frame.row[reply]]))
    return lifted.kept(rows), {reply: found[reply] for reply in in_time}


def with_repeats(ranked: Ranked, repeats: Repeats) -> Ranked:
    """List the replies, oldest first, after the other copies of what they repeat."""
    if not repeats:
        return ranked
    best = {copy: one for one, copies in ranked.copies.items() for copy in copies}
    copies = dict(ranked.copies)
    for reply, source in repeats.items():
        one = best.get(source, source)
        copies[one] = (*copies.get(one, ()), reply)
    return replace(ranked, copies=copies)


def _find_repeats(search: Search, ranked: Ranked) -> Repeats:
    """Find for each reply that only repeats the best older memory that says all of it."""
    frame = search.frame
    echoes = search.echo_ids
    rows = {
        one: frame.row[one]
        for one in ranked.ids[:_DEEPEST]
        if one in frame.row and one not in echoes
    }
    replies = dict(_replies(search, rows))
    if not replies:
        return {}
    stems = {one: frozenset(frame.terms[row].split()) for one, row in rows.items()}
    found: dict[EpisodeId, EpisodeId] = {}
    for reply, asked in replies.items():
        told, about = content_stems(stems[reply] - asked), content_stems(asked)
        names = frame.spoken[rows[reply]].asking.told
        older = (
            one
            for one, row in rows.items()
            if one not in replies and frame.turn[row] < frame.turn[rows[reply]]
        )
        source = next((one for one in older if _tells(stems[one], told, names, about)), None)
        if told and source is not None:
            found[reply] = source
    return found


def _tells(
    there: frozenset[str], told: frozenset[str], names: frozenset[str], about: frozenset[str]
) -> bool:
    """Tell whether a memory says what a reply says, and has a word of its question.

    All are stems: of the memory, of the reply itself, of its names and numbers, of the question.
    """
    # A word of the question too: the reply to "Who leads Acme?" may be a name that is only
    # mentioned elsewhere.
    lacking = told - there
    few = len(lacking) <= _OTHER_WORDS * len(told)
    return few and lacking.isdisjoint(names) and not about.isdisjoint(there)


def _replies(
    search: Search, rows: Mapping[EpisodeId, int]
) -> Iterator[tuple[EpisodeId, frozenset[str]]]:
    """List the short replies of an assistant to a question, with the stems of the question."""
    frame, scope = search.frame, _scoped(search.store).scope
    left_out = {(echo.session, echo.ordinal): echo.terms for echo in search.echoes}
    for one, row in rows.items():
        if frame.by_user[row]:
            continue
        session, before = frame.session[row], int(frame.previous[row])
        asked = left_out.get((session, scope.ordinal(session, int(frame.ordinal[row])) - 1))
        if asked is None and before >= 0 and _only_asks(before, frame):
            asked = frozenset(frame.terms[before].split())
        # Few turns follow a question of a user, so only these are read.
        if asked is not None and _states(row, frame):
            yield one, asked


def _states(row: int, frame: Frame) -> bool:
    """Tell whether a turn is short, states something, and denies nothing."""
    spoken = frame.spoken[row]
    if not spoken.text or spoken.asking.saying is not Saying.STATES:
        return False
    # Stems have no "not", so a denial cannot be told from what it denies.
    return not denies(spoken.text)


def _only_asks(row: int, frame: Frame) -> bool:
    """Tell whether a user only asks."""
    return bool(frame.by_user[row]) and frame.spoken[row].asking.saying is Saying.ASKS
