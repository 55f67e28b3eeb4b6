"""Find statements of users about themselves in their messages, the latest of each topic.

A statement that a later sentence of the same speaker makes outdated is left out. That sentence
takes its place, also if no rule reads it as a statement about the speaker: "I now take my coffee
with milk".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ecphoria.records.episode import Episode
from ecphoria.text.change import replaces, restates
from ecphoria.text.self_statements import (
    MOST,
    SelfStatement,
    Topic,
    say_the_same,
    self_statements,
    sentences,
    shortened,
)
from ecphoria.text.statements import LONGEST, Statement, read_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutUser:
    """A statement of a user about themselves, and the message that holds it."""

    said: SelfStatement
    episode: Episode

    @property
    def newest_first(self) -> tuple[float, int, int]:
        """Sorts statements by time, those of one message in the order of its text."""
        return -self.episode.occurred_at.timestamp(), -self.episode.turn, self.said.start


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence of a message, and what it states; `place` orders sentences in time."""

    episode: Episode
    start: int
    end: int
    place: tuple[float, int, int]
    statements: tuple[Statement, ...]
    about: SelfStatement | None

    @property
    def tells_change(self) -> bool:
        return any(one.tells_change for one in self.statements)


def about_users(messages: Sequence[Episode]) -> tuple[AboutUser, ...]:
    """Choose the statements worth a line, in the order of the topics, the newest first."""
    chosen: dict[tuple[Topic, str], list[AboutUser]] = {}
    for about in sorted(_current(messages), key=lambda one: one.newest_first):
        said = about.said
        kept = chosen.setdefault((said.topic, about.episode.speaker or ""), [])
        place = next((at for at, one in enumerate(kept) if say_the_same(one.said, said)), None)
        if place is None:
            kept.append(about)
        elif said.defines and not kept[place].said.defines:
            # "My wife is Nora" tells more than the later "My wife says hello".
            kept[place] = about
    ordered = sorted(chosen, key=lambda key: (list(Topic).index(key[0]), key[1]))
    return tuple(about for key in ordered for about in chosen[key][: MOST[key[0]]])


def _current(messages: Sequence[Episode]) -> list[AboutUser]:
    """List the statements about the speaker, and in place of outdated ones what replaces them."""
    read = [one for message in messages for one in _sentences(message)]
    by_speaker: dict[str, list[_Sentence]] = {}
    for one in sorted(read, key=lambda one: one.place):
        by_speaker.setdefault(one.episode.speaker or "", []).append(one)
    found = dict[tuple[str, int], AboutUser]()
    for told in by_speaker.values():
        for at, one in enumerate(told):
            if one.about is None:
                continue
            newest = _newest(at, told)
            # A sentence that is about the speaker keeps its own topic.
            said = newest.about or _in_place_of(one.about, newest)
            key = (str(newest.episode.id), newest.start)
            found.setdefault(key, AboutUser(said=said, episode=newest.episode))
    return list(found.values())


def _sentences(message: Episode) -> list[_Sentence]:
    """Read the sentences of a message."""
    text = message.text
    about = {said.start: said for said in self_statements(text)}
    # Changes are not read in a long message, as in a recall.
    short = len(text) <= LONGEST
    return [
        _Sentence(
            episode=message,
            start=start,
            end=end,
            place=(message.occurred_at.timestamp(), message.turn, start),
            statements=read_statements(text[start:end]) if short else (),
            about=about.get(start),
        )
        for start, end in sentences(text)
    ]


def _newest(at: int, told: Sequence[_Sentence]) -> _Sentence:
    """Follow a sentence to the latest one that makes it outdated; itself if there is none."""
    newest, after = told[at], at + 1
    while True:
        place = _replaced_at(newest, told, after)
        if place is None:
            return newest
        newest, after = told[place], place + 1


def _replaced_at(older: _Sentence, told: Sequence[_Sentence], after: int) -> int | None:
    """Find the latest sentence from `after` on that makes an older one outdated."""
    if not older.statements:
        return None
    for place in range(len(told) - 1, after - 1, -1):
        later = told[place]
        pairs = [(new, old) for new in later.statements for old in older.statements]
        if any(restates(new, old) for new, old in pairs):
            return None
        if later.tells_change and any(replaces(new, old) for new, old in pairs):
            return place
    return None


def _in_place_of(said: SelfStatement, newest: _Sentence) -> SelfStatement:
    text = " ".join(newest.episode.text[newest.start : newest.end].split())
    return replace(said, sentence=shortened(text), start=newest.start, end=newest.end)
