"""From a ranking to an answer: hits, copies, near misses, and the context for a prompt.

Two memories are copies if the same person says the same words in the same order. Case,
punctuation, an interjection in front and words that only stress do not count. Long texts without
a title, such as outputs of tools, are copies if they are almost the same. Vectors are not
compared: by the default model "We moved from Bath to Bristol" and "We moved from Bristol to Bath"
have a cosine of .99, but "I like espresso" and "Oh, I like espresso!" one of .94.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import toktok

from ecphoria.maths.lexical import count_terms, counting_work
from ecphoria.recall.frame import Frame
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.records.episode import Episode, excerpt, fenced, headline
from ecphoria.records.forms import composed
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Hit, HitPassage, NearMiss, PathStep, Reference
from ecphoria.runtime import run_off_loop
from ecphoria.text.code_blocks import CodeBlock, append_words, code_blocks, one_line, write_lines
from ecphoria.text.dates import tells_day
from ecphoria.text.english import DENIALS, INTENSIFIERS, INTERJECTIONS
from ecphoria.text.german import DATED
from ecphoria.text.near_copies import SHORTEST, Sketch, almost_same, sketch
from ecphoria.text.tokens import MARKS, SENTENCE_ENDS, UNSPACED_ENDS

MISSES = 3
"""Number of near misses in an answer."""


def needed(ranked: Ranked, k: int, more: Sequence[EpisodeId] = ()) -> list[EpisodeId]:
    """List the episodes that an answer shows: hits, near misses and nodes of the paths."""
    shown = dict.fromkeys((*ranked.ids[: k + MISSES], *more))
    for episode in dict.fromkeys((*ranked.ids[:k], *more)):
        steps = ranked.path(episode)
        shown.update(dict.fromkeys(EpisodeId(s.node) for s in steps if s.kind == "episode"))
    return list(shown)


def hits_of(
    search: Search, ranked: Ranked, k: int, passages: Mapping[EpisodeId, Sequence[HitPassage]]
) -> tuple[Hit, ...]:
    """Turn the first `k` rows of a ranking into hits; deleted memories are left out.

    Of the `passages` of a long episode, the one that matches best is the first.
    """
    rows = [row for row, episode in enumerate(ranked.ids[:k]) if episode in ranked.episodes]
    ranks = {ranked.ids[row]: rank for rank, row in enumerate(rows, 1)}
    return tuple(
        _hit(ranked, row, ranks, passages.get(ranked.ids[row], ()), echoes=search.echo_ids)
        for row in rows
    )


def _hit(
    ranked: Ranked,
    row: int,
    ranks: Mapping[EpisodeId, int],
    passages: Sequence[HitPassage],
    *,
    echoes: Collection[EpisodeId],
) -> Hit:
    ident = ranked.ids[row]
    episode, late = ranked.episodes[ident], ranked.superseded.get(ident)
    newer = ranked.outdated.get(ident)
    newer_rank = None if newer is None else ranks.get(newer)
    return Hit(
        episode=episode,
        trust=episode.trust,
        rank=ranks[ident],
        score=float(ranked.parts[row].sum()) + 0.0,
        # A sum with zero turns -0.0 into 0.0.
        parts=dict(zip(ranked.part_names, (ranked.parts[row] + 0.0).tolist(), strict=True)),
        path=_labelled(ranked.path(ident), ranked.episodes),
        superseded_at=late.at_for(episode) if late else None,
        superseded_by=late.by if late else (),
        outdated_by=None if newer_rank is None else newer,
        outdated_by_rank=newer_rank,
        copies=ranked.copies.get(ident, ()),
        passage=next(iter(passages), None),
        passages=tuple(passages),
        echo=ident in echoes,
    )


def misses_of(search: Search, ranked: Ranked, k: int) -> tuple[NearMiss, ...]:
    """List the memories just below the last hit, without echoes."""
    below = zip(ranked.ids[k : k + MISSES], ranked.score[k : k + MISSES], strict=True)
    return tuple(
        NearMiss(episode=one, score=float(score), text=excerpt(ranked.episodes[one].text))
        for one, score in below
        if one in ranked.episodes and one not in search.echo_ids
    )


def _labelled(
    path: Sequence[PathStep], episodes: Mapping[EpisodeId, Episode]
) -> tuple[PathStep, ...]:
    return tuple(
        replace(step, label=step.label or _label(episodes.get(EpisodeId(step.node))))
        for step in path
    )


def _label(episode: Episode | None) -> str:
    return "" if episode is None else headline(episode.title, episode.speaker, episode.text)


async def passages_of_hits(
    search: Search, hits: Sequence[EpisodeId]
) -> Mapping[EpisodeId, tuple[HitPassage, ...]]:
    """List each long hit's passages, best first, by words and meaning.

    The two count alike: the share of the cue's words by rarity, and the cosine. Short memories
    are absent.
    """
    if not search.seeding.profile.passages or not hits:
        return {}
    found = await search.store.passages_of(search.tenant, hits, search.seeding.vector)
    stems, rarity = search.frame.stems, search.frame.rarity
    also = search.seeding.analysis.also
    mass = float(rarity.sum()) or 1.0
    counts = await run_off_loop(
        partial(count_terms, found.terms, stems, also), counting_work(found.terms, stems)
    )
    score = (counts > 0.0) @ rarity / mass + found.cosine
    listed: dict[EpisodeId, list[HitPassage]] = {}
    for row in np.argsort(-score, kind="stable").tolist():
        passage = HitPassage(
            part=int(found.part[row]), start=int(found.start[row]), end=int(found.end[row])
        )
        listed.setdefault(found.episode[row], []).append(passage)
    return {episode: tuple(passages) for episode, passages in listed.items()}


# Other models count differently: Chinese up to 1.3, Arabic 2.3 and Hindi 3.5 times as high
# (docs/explanation/context.md).
TOKEN_COUNTER = "o200k_base"  # noqa: S105 (the name of a table)
"""The table of the tokens: that of GPT-4o and later models of OpenAI."""

_THREADS = 1  # the texts are short: a pool of threads costs more than it saves


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Count the tokens of each text. The first call loads the table, about 50 MB."""
    counts: list[int] = toktok.batch_count(texts, TOKEN_COUNTER, threads=_THREADS)
    return counts


def cut_to_tokens(text: str, limit: int) -> str:
    """Return the longest start of a text with at most `limit` tokens, in whole characters."""
    kept: str
    kept, _ = toktok.truncate(text, limit, TOKEN_COUNTER)
    return kept


# A long text is cut, not left out; the tokens that remain go to the hits that were cut, best first
# (docs/explanation/context.md).
_SHARES = 4
"""In the first round a hit gets at most a fourth of the budget."""

_LEAST_SHARE = 64
"""Smallest share in tokens; a smaller one would cut even short lines."""

# The marks hold a hash of the lines between them, so no memory can contain the closing mark
# (docs/explanation/context.md).
MARKS_TOKENS = 20
"""Tokens of the marks around the block, at most."""

_LEAST_TEXT = 8
"""Smallest number of tokens of a shown text; a line with less is left out."""

_LONGEST_TOKEN = 32
"""Characters; a text with more of them per token of the budget is not counted as a whole."""

_ELLIPSIS = "…"
_WORD = re.compile(r"\S+")
# The end of a line of code counts as the end of a sentence.
_SENTENCE_END = re.compile(rf"(?!(?<=\d)\.{DATED})[{SENTENCE_ENDS}](?=\s|$)|[{UNSPACED_ENDS}]|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context block, its exact number of tokens, and the episode behind each line."""

    text: str
    tokens: int
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The line of a hit that shows `text[start:end]`; `tokens` includes the line break.

    It has further lines, indented, where the shown text has code.
    """

    hit: Hit
    start: int
    end: int
    text: str
    tokens: int


def context_block(hits: Sequence[Hit], budget: int, followers: Sequence[Hit] = ()) -> Context:
    """Write the hits in the order of time, one a line between marks, within a budget.

    The marks tell a model where recalled text begins and ends: all text inside is data. Their
    tokens count.

    Hits enter in the order of their rank. A hit that is too long is cut, not left out: to its
    passage with the passages around it, or to its start. No hit takes more than a fourth of the
    budget at first, so that one long memory does not push out the others. Tokens that remain
    then go to the hits that were cut, best first, and last to the turns that follow a shown hit.
    """
    share = share_of(budget)
    lines: list[Line] = []
    left = budget - MARKS_TOKENS
    for hit in hits:
        line = fitted(hit, min(share, left))
        if line is not None:
            lines.append(line)
            left -= line.tokens
    for place, line in enumerate(lines):
        if not _is_whole(line):
            longer = fitted(line.hit, left + line.tokens) or line
            if longer.tokens > line.tokens:
                lines[place] = longer
                left -= longer.tokens - line.tokens
    told = {line.hit.rank for line in lines}
    for follower in followers:
        line = fitted(follower, min(share, left)) if follower.follows in told else None
        if line is not None:
            lines.append(line)
            left -= line.tokens
    return _block(lines)


def share_of(budget: int) -> int:
    """Compute the largest share of one memory in the first round."""
    return max(budget // _SHARES, _LEAST_SHARE)


def _block(lines: Sequence[Line]) -> Context:
    ordered = sorted(lines, key=lambda line: (line.hit.episode.occurred_at, line.hit.episode.turn))
    text = fenced("memories", "\n".join(line.text for line in ordered)) if lines else ""
    return Context(
        text=text,
        tokens=count_tokens([text])[0],
        references=tuple(
            Reference(
                number=line.hit.rank,
                episode=line.hit.episode.id,
                start=line.start,
                end=line.end,
                follows=line.hit.follows,
            )
            for line in ordered
        ),
    )


def _is_whole(line: Line) -> bool:
    return line.start == 0 and line.end == len(line.hit.episode.text)


def fitted(hit: Hit, limit: int) -> Line | None:
    """Show as much of a hit as fits: all of it, its passage and more, or its start; or None."""
    text = hit.episode.text
    code = code_blocks(text)
    if len(text) <= limit * _LONGEST_TOKEN:
        whole = _line(hit, 0, len(text), code)
        if whole.tokens <= limit:
            return whole
    if hit.passage is None:
        return _cut(hit, 0, len(text), code, limit)
    start, end = _bounds(hit.passage, text)
    passage = _line(hit, start, end, code)
    if passage.tokens > limit:
        return _cut(hit, start, end, code, limit)
    return _widened(passage, code, limit)


def _widened(line: Line, code: Sequence[CodeBlock], limit: int) -> Line:
    """Add the passages around the shown one, after and before it in turn, while they fit."""
    hit = line.hit
    spans = [_bounds(passage, hit.episode.text) for passage in hit.passages]
    after = sorted(span for span in spans if span[1] > line.end)
    before = sorted((span for span in spans if span[0] < line.start), reverse=True)
    ahead = True
    while after or before:
        side = after if (ahead and after) or not before else before
        start, end = side.pop(0)
        wider = _line(hit, min(line.start, start), max(line.end, end), code)
        if wider.tokens <= limit:
            line = wider
        else:
            side.clear()  # passages further out would be even longer
        ahead = not ahead
    return line


def _cut(hit: Hit, start: int, end: int, code: Sequence[CodeBlock], limit: int) -> Line | None:
    """Show the start of a span, up to the end of a sentence or word; None if nothing fits."""
    text = hit.episode.text
    room = limit - _line(hit, start, start, code).tokens
    while room >= _LEAST_TEXT:
        stop = min(end, start + room * _LONGEST_TOKEN)
        written = write_lines(text, start, stop, code, close=False)
        kept = _to_boundary(cut_to_tokens(written, room), written)
        line = _line(hit, start, _place_of(text, start, kept), code)
        if line.tokens <= limit:
            return line
        room -= line.tokens - limit
    return None


def _to_boundary(kept: str, written: str) -> str:
    """Shorten a cut text to the last sentence end in its second half, else to a whole word."""
    if len(kept) == len(written):
        return kept
    ends = [match.end() for match in _SENTENCE_END.finditer(kept, len(kept) // 2)]
    if ends and ends[-1] < len(kept):
        return kept[: ends[-1]]
    blank = kept.rfind(" ")
    inside_word = not written[len(kept)].isspace()
    # Scripts without blanks have no word to keep whole.
    return kept[:blank] if inside_word and blank > len(kept) // 2 else kept


def _place_of(text: str, start: int, written: str) -> int:
    """Find the offset in a text of the end of its written start, by non-blank characters."""
    wanted = sum(map(len, written.split()))
    for word in _WORD.finditer(text, start):
        if wanted <= len(word[0]):
            return word.start() + wanted
        wanted -= len(word[0])
    return len(text)


def _bounds(passage: HitPassage, text: str) -> tuple[int, int]:
    """Limit offsets to the text; stored passages may be older than the rules."""
    start = min(max(passage.start, 0), len(text))
    return start, min(max(passage.end, start), len(text))


def _line(hit: Hit, start: int, end: int, code: Sequence[CodeBlock]) -> Line:
    """Write the line for a span; a blank start or end of the text does not count as left out."""
    episode = hit.episode
    text = episode.text
    if not text[:start].strip():
        start = 0
    if not text[end : end + 1].strip() and not text[end:].strip():
        end = len(text)
    after = "" if hit.follows is None else f"(follows {hit.follows})"
    who = " ".join(filter(None, (name_of(episode), after)))
    line = f"[{hit.rank}] {episode.occurred_at:%Y-%m-%d}" + (f" {who}:" if who else "")
    if start:
        line = f"{line} {_ELLIPSIS}"
    if shown := write_lines(text, start, end, code):
        line += shown if shown.startswith("\n") else f" {shown}"
    for words in (*((_ELLIPSIS,) if end < len(text) else ()), *_remarks(hit)):
        line = append_words(line, words)
    return Line(hit=hit, start=start, end=end, text=line, tokens=count_tokens([line + "\n"])[0])


_BRACKETS = str.maketrans("[]", "()")


def name_of(episode: Episode) -> str:
    """Name the speaker, and the role unless it is `user`: other roles are trusted less.

    Square brackets are replaced, so that a name cannot look like the reference of a memory.
    """
    who = one_line(episode.speaker or episode.title or "").translate(_BRACKETS)
    role = one_line(episode.role or "").translate(_BRACKETS)
    if not role or role == "user" or role == who.casefold():
        return who or role
    return f"{who} ({role})" if who else role


def _remarks(hit: Hit) -> list[str]:
    remarks = []
    if hit.episode.source:
        remarks.append(f"(source: {excerpt(hit.episode.source)})")
    if hit.copies:
        verb = "said" if hit.episode.speaker else "recorded"
        remarks.append(f"({verb} {len(hit.copies) + 1} times)")
    if hit.superseded_at is not None:
        remarks.append(f"(outdated: no longer so since {hit.superseded_at:%Y-%m-%d})")
    if hit.outdated_by_rank is not None:
        remarks.append(f"[outdated by {hit.outdated_by_rank}]")
    return remarks


_LOOKED_AT = 200
"""Number of ranked memories that are searched for copies, beside those in the answer."""

_ROUNDS = 4
"""Largest number of look-ups; one is enough unless memories outside the frame are copies."""

# Vectors cannot tell copies: *from Bath to Bristol* and *from Bristol to Bath* have a cosine of
# .99 (docs/explanation/context.md).
_LONGEST = 2_000
"""Characters; longer texts are copies only if they are equal."""

_MARK = re.compile(r"[.,;:!\u2026]+(?=\s|$)|[\"\u201c\u201d\u201e\u00ab\u00bb]")
_TOKEN = re.compile(rf"[-+\u2212]?\d+(?:[.,:]\d+)*|[\w{MARKS}]+|\?+|[^\w\s]")

Key = tuple[str | None, ...]


async def load_shown(
    search: Search, ranked: Ranked, *, k: int, collapse: bool, more: Sequence[EpisodeId] = ()
) -> Ranked:
    """Fetch the texts of the best memories; with `collapse`, join copies and fill up to k.

    The stems of the frame show which memories may be copies, so only their texts are fetched. The
    texts of `more` memories are fetched in any case.
    """
    if not collapse:
        found = await search.store.episodes(search.tenant, needed(ranked, k, more))
        return replace(ranked, episodes={one.id: one for one in found})
    episodes: dict[EpisodeId, Episode] = {}
    tried: set[EpisodeId] = set()
    suspects = _suspects(ranked, search.frame, k + MISSES)
    first = [episode for group in suspects for episode in group]
    apart = _without(ranked, {episode for group in suspects for episode in group[1:]})
    shown = replace(ranked, episodes=episodes)
    sketches: dict[EpisodeId, Sketch | None] = {}
    wanted = list(dict.fromkeys((*first, *needed(apart, k, more))))
    for _ in range(_ROUNDS):
        missing = [episode for episode in wanted if episode not in tried]
        if not missing:
            break
        tried.update(missing)
        for episode in await search.store.episodes(search.tenant, missing):
            episodes[episode.id] = episode
        size = sum(len(one.text) for one in episodes.values())
        long = _LongTexts(search.frame, sketches)
        shown = await run_off_loop(partial(_joined, ranked, episodes, long), size)
        # Where there are some, more are likely: twice as many are read each time.
        wanted = needed(shown, k + long.joined, more)
    return shown


def same_words(text: str) -> tuple[str, ...]:
    """Reduce a text to a key that its copies share.

    Words, numbers, question marks and signs stay, in order. Case, other punctuation,
    interjections in front and words that only stress go.
    """
    if len(text) > _LONGEST:
        return (text,)
    tokens = _TOKEN.findall(_MARK.sub(" ", composed(text).casefold().replace("\u2019", "'")))
    start = 0
    while start < len(tokens) - 1 and tokens[start] in INTERJECTIONS:
        start += 1
    kept: list[str] = []
    for token in tokens[start:]:
        if token not in INTENSIFIERS or (kept and kept[-1] in DENIALS):
            kept.append("?" if token.startswith("?") else token)
    return tuple(kept) or (text,)


def _suspects(ranked: Ranked, frame: Frame, count: int) -> list[list[EpisodeId]]:
    """Group the best memories by speaker and stems, until there are `count` groups."""
    groups: dict[Key, list[EpisodeId]] = {}
    for episode in ranked.ids[: count + _LOOKED_AT]:
        row = frame.row.get(episode)
        key: Key = (
            (episode,)
            if row is None
            else (frame.terms[row], _folded(frame.speaker[row]), frame.title[row])
        )
        if key in groups or len(groups) < count:
            groups.setdefault(key, []).append(episode)
    return list(groups.values())


class _LongTexts:
    """The long texts of a ranking so far; finds the one of which a next text is almost a copy."""

    def __init__(self, frame: Frame, sketches: dict[EpisodeId, Sketch | None]) -> None:
        self._frame = frame
        self._cue = frozenset(frame.stems)
        self._sketches = sketches
        self._seen: dict[Key, list[tuple[EpisodeId, Sketch]]] = {}
        self.joined = 0

    def first(self, episode: Episode, *, ended: bool) -> EpisodeId:
        """Give the best ranked text that is almost the same, else the text itself.

        Texts are apart if a word of the cue tells them apart: it may ask for just this difference.
        """
        long = len(episode.text) >= SHORTEST and not episode.title
        drawn = self._sketch(episode) if long else None
        if drawn is None:
            return episode.id
        group: Key = (_folded(episode.speaker), episode.role, str(ended), *self._asked(episode.id))
        seen = self._seen.setdefault(group, [])
        for one, other in seen:
            if almost_same(other, drawn):
                self.joined += 1
                return one
        seen.append((episode.id, drawn))
        return episode.id

    def _sketch(self, episode: Episode) -> Sketch | None:
        if episode.id not in self._sketches:
            self._sketches[episode.id] = sketch(episode.text)
        return self._sketches[episode.id]

    def _asked(self, episode: EpisodeId) -> list[str]:
        """List the words of the cue in a text; outside of the frame a text is alone."""
        row = self._frame.row.get(episode)
        return (
            [episode] if row is None else sorted(self._cue & set(self._frame.terms[row].split()))
        )


def _joined(ranked: Ranked, episodes: Mapping[EpisodeId, Episode], long: _LongTexts) -> Ranked:
    """Keep the best ranked copy of each memory."""
    kept: dict[Key, EpisodeId] = {}
    copies: dict[EpisodeId, list[Episode]] = {}
    keys = _keys(episodes.values())
    for ident in ranked.ids:
        episode = episodes.get(ident)
        if episode is None:
            continue
        ended = ident in ranked.superseded
        key = (*keys[ident], str(ended))
        best = kept.get(key) or long.first(episode, ended=ended)
        kept[key] = best
        if best != ident:
            copies.setdefault(best, []).append(episode)
    for group in copies.values():
        group.sort(key=lambda episode: (episode.occurred_at, episode.turn))
    left = _without(ranked, {episode.id for group in copies.values() for episode in group})
    found = {best: tuple(one.id for one in group) for best, group in copies.items()}
    return replace(left, episodes=episodes, copies=found)


def _keys(episodes: Collection[Episode]) -> dict[EpisodeId, Key]:
    """Build the keys of copies; "today" means the same only on the same day."""
    said: dict[EpisodeId, Key] = {
        one.id: (_folded(one.speaker), one.role, one.title, *same_words(one.text))
        for one in episodes
    }
    # The day takes the longest to find, so it is read only where the words are the same.
    often = Counter(said.values())
    return {
        one.id: (_day(one) if often[said[one.id]] > 1 else None, *said[one.id]) for one in episodes
    }


def _day(episode: Episode) -> str | None:
    return f"{episode.occurred_at:%Y-%m-%d}" if tells_day(episode.text) else None


def _without(ranked: Ranked, left_out: set[EpisodeId]) -> Ranked:
    if not left_out:
        return ranked
    return ranked.kept([row for row, one in enumerate(ranked.ids) if one not in left_out])


def _folded(speaker: str | None) -> str | None:
    return None if speaker is None else speaker.casefold()
