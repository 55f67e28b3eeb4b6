"""Read LoCoMo: long conversations between people, and its made-up miniature.

Chats with an assistant come in the same format; there the speakers are `user` and `assistant`.

Only what was said is appended. Queries of images, observations and summaries stay out: they are
gold, or written by a model that knew it. Where they are asked for, the observations are sent as
facts of the turns that they quote: a language model wrote them, which saw the conversation and not
the questions.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path

from ecphoria.calibration.labelled import Record, digest, objects, read_lines
from ecphoria.errors import BadFile
from ecphoria.records.episode import Extracted, NewEpisode, Statement
from ecphoria_eval.datasets.dataset import (
    ADVERSARIAL,
    Collection,
    Dataset,
    Gathering,
    Question,
    Suite,
    answers_of,
    data_files,
    gathered,
    read_list,
)
from ecphoria_eval.datasets.passages import load_passages
from ecphoria_eval.datasets.smrcs import is_smrcs, load_smrcs

CATEGORIES = ("1", "2", "3", "4", ADVERSARIAL)
"""Multi-hop, temporal, open-domain, single-hop, and without an answer."""

_SESSION = re.compile(r"session_(\d+)")
_SESSION_DATE = re.compile(r"session_(\d+)_date_time")
_OBSERVED = re.compile(r"session_(\d+)_observation")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
_WHEN = "%I:%M %p on %d %B, %Y"
_ROLES = frozenset({"user", "assistant"})
"""Speakers that are sent as the role too."""

_MOVED = 20261127
"""Seed of the turns that noise moves facts to."""


def load_locomo(path: Path, *, observations: bool = False, noise: bool = False) -> Dataset:
    """Read a file, or a folder of files, of conversations.

    Args:
        path: Where they are.
        observations: Send the observations of the file as facts of the turns that they quote.
        noise: Move half of these facts to wrong turns, the same ones each time.

    Raises:
        BadFile: A file or a record is not of this format; names the record.
    """
    return _load(path, Suite.LOCOMO, observations=observations, noise=noise)


def load_chats(path: Path) -> Dataset:
    """Read a file, or a folder of files, of chats of a user with an assistant; also SMRCs.

    Raises:
        BadFile: A file or a record is not of this format, or somebody else speaks; names the
            record.
    """
    first = next(read_list(data_files(path, (".json",))[0]), None)
    if first is not None and is_smrcs(first):
        return load_smrcs(path)
    dataset = _load(path, Suite.CHATS)
    for part in dataset.collections:
        others = {item.speaker for item in part.memories.values() if item.role is None} - {None}
        if others:
            raise BadFile(
                f"{path.name}, {part.name}: `{min(map(str, others))}` speaks; in chats only"
                " `user` and `assistant` do. Measure it with `ecphoria eval locomo`."
            )
    return dataset


def _load(path: Path, suite: Suite, *, observations: bool = False, noise: bool = False) -> Dataset:
    files = data_files(path, (".json",))
    findings: Counter[str] = Counter()
    parts: list[Collection] = []
    for file in files:
        for record in read_list(file):
            part = _conversation(record, findings, {part.name for part in parts})
            if observations:
                moving = random.Random(_MOVED) if noise else None  # noqa: S311 (no secret)
                stated = _observations(record, part.memories, findings, moving)
                part = replace(part, memories=_with_facts(part.memories, stated))
            parts.append(part)
    if observations and not findings["observations sent as facts"]:
        raise BadFile(f"{path.name} has no observations of its turns to send as facts.")
    return Dataset(
        suite=suite,
        source=path.name,
        sha256=digest(files),
        collections=tuple(parts),
        findings=dict(sorted((+findings).items())),
    )


def _conversation(record: Record, findings: Counter[str], taken: set[str]) -> Collection:
    given = record.text("sample_id") if "sample_id" in record.fields else "conversation"
    name, number = given, 1
    while name in taken:
        number += 1
        name = f"{given}-{number}"
    content = record.fields.get("conversation")
    if not isinstance(content, dict):
        raise record.bad("conversation", "an object")
    spoken = Record(where=f"{record.where} ({name})", fields=content)
    gathering = gathered(findings)
    for session, turns in _sessions(spoken, findings):
        when = _when(spoken.fields.get(f"{session}_date_time"), findings)
        for position, turn in enumerate(turns, start=1):
            _turn(turn, session=session, position=position, when=when, gathering=gathering)
    asked = Record(where=spoken.where, fields=record.fields)
    return Collection(
        name=name,
        memories=gathering.memories,
        questions=tuple(_questions(asked, set(gathering.memories), findings)),
    )


def _observations(
    record: Record,
    memories: Mapping[str, NewEpisode],
    findings: Counter[str],
    moving: random.Random | None,
) -> dict[str, list[Statement]]:
    """Read the observations by the turn that they quote, or by a wrong one for a half of them."""
    found: dict[str, list[Statement]] = {}
    given = record.fields.get("observation")
    every = sorted(memories)
    for name, speakers in sorted(given.items() if isinstance(given, dict) else ()):
        if not _OBSERVED.fullmatch(name) or not isinstance(speakers, dict):
            continue
        for speaker, rows in speakers.items():
            for row in rows if isinstance(rows, list) else ():
                statement, turns = _observation(speaker, row, memories)
                if statement is None or not turns:
                    findings["observations without a usable turn or text"] += 1
                    continue
                if moving is not None and moving.random() < 0.5:
                    turns = (moving.choice(every),)
                for turn in turns:
                    found.setdefault(turn, []).append(statement)
                findings["observations sent as facts"] += 1
    return found


def _observation(
    speaker: str, row: object, known: Mapping[str, NewEpisode]
) -> tuple[Statement | None, tuple[str, ...]]:
    """Read one observation: a sentence about a speaker, and the ids that it quotes."""
    if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], str):
        return None, ()
    turns = _gold(_raw_evidence(row[1]), set(known))
    says = " ".join(row[0].split()).rstrip(".")
    rest = says.removeprefix(speaker).strip()
    predicate, _, value = rest.partition(" ")
    if not speaker.strip() or not value.strip():
        return None, turns
    if rest == says:
        predicate, value = "is told", says
    return Statement(subject=speaker, predicate=predicate, object=value), turns


def _with_facts(
    memories: Mapping[str, NewEpisode], stated: Mapping[str, Sequence[Statement]]
) -> dict[str, NewEpisode]:
    return {
        ident: replace(memory, extraction=Extracted(facts=tuple(stated[ident])))
        if ident in stated
        else memory
        for ident, memory in memories.items()
    }


def _sessions(spoken: Record, findings: Counter[str]) -> Iterator[tuple[str, list[Record]]]:
    numbers = {
        int(match[1])
        for name in spoken.fields
        if (match := _SESSION.fullmatch(name) or _SESSION_DATE.fullmatch(name))
    }
    for number in sorted(numbers):
        name = f"session_{number}"
        value = spoken.fields.get(name)
        if value is None or value == []:
            findings["empty sessions"] += 1
        elif not isinstance(value, list):
            raise spoken.bad(name, "a list")
        else:
            yield name, list(objects(value, f"{spoken.where}, {name}, turn"))


def _when(given: object, findings: Counter[str]) -> datetime | None:
    try:
        return datetime.strptime(str(given).strip(), _WHEN).replace(tzinfo=UTC)
    except ValueError:
        findings["sessions without a readable date"] += 1
        return None


def _turn(
    turn: Record, *, session: str, position: int, when: datetime | None, gathering: Gathering
) -> None:
    findings = gathering.findings
    ident, text = turn.text("dia_id"), turn.fields.get("text")
    caption, speaker = turn.fields.get("blip_caption"), turn.fields.get("speaker")
    said = text if isinstance(text, str) else ""
    if isinstance(caption, str) and caption.strip():
        said = f"{said} [shares {caption}]"
    elif turn.fields.get("img_url"):
        findings["images without a caption"] += 1
    if not said.strip():
        findings["turns without text"] += 1
        return
    if ident in gathering.memories:
        findings["turns whose id was used before"] += 1
        return
    fields: dict[str, object] = {"text": said, "session": session, "position": position}
    if isinstance(speaker, str) and speaker.strip():
        fields["speaker"] = speaker
        if speaker.strip().lower() in _ROLES:
            fields["role"] = speaker.strip().lower()
    else:
        findings["turns without a speaker"] += 1
    if when is not None:
        fields["occurred_at"] = when
    gathering.add(ident, **fields)


def _questions(record: Record, known: set[str], findings: Counter[str]) -> Iterator[Question]:
    for number, asked in enumerate(record.records("qa")):
        category = str(asked.fields.get("category"))
        text = asked.text("question")
        if category not in CATEGORIES:
            findings["questions of an unknown category"] += 1
            continue
        raw = _raw_evidence(asked.fields.get("evidence"))
        findings["pieces of evidence that are no turn's id"] += sum(
            one not in known for one in raw
        )
        gold = _gold(raw, known)
        if not gold and category != ADVERSARIAL:
            findings["questions without evidence"] += 1
        yield Question(
            id=str(number),
            text=text,
            category=category,
            gold=gold,
            official=raw,
            kind=_kind(asked),
            answers=answers_of(asked.fields.get("answer")),
        )


def _kind(asked: Record) -> str:
    """Take the data's own name for a kind of question, where it has one."""
    given = asked.fields.get("kind")
    return given.strip() if isinstance(given, str) else ""


def _raw_evidence(given: object) -> tuple[str, ...]:
    if isinstance(given, list):
        return tuple(str(one) for one in given)
    return (given,) if isinstance(given, str) and given else ()


def _gold(raw: Sequence[str], known: set[str]) -> tuple[str, ...]:
    """Find all turn ids in evidence with irregular spelling; keep existing ones."""
    found = (f"D{session}:{turn}" for one in raw for session, turn in _EVIDENCE.findall(one))
    return tuple(dict.fromkeys(one for one in found if one in known))


_CATEGORIES = {
    "multi-hop": "1",
    "temporal": "2",
    "open": "3",
    "single-hop": "4",
    "unanswerable": ADVERSARIAL,
}


def load_mini() -> tuple[Dataset, Dataset]:
    """Read the conversation and the passages, in this order."""
    with as_file(files("ecphoria.demo") / "data") as folder:
        return _mini_conversation(folder), load_passages(folder / "passage_questions.jsonl")


def _mini_conversation(folder: Path) -> Dataset:
    turns, questions = folder / "conversation.jsonl", folder / "questions.jsonl"
    gathering = gathered(Counter())
    for record in read_lines(turns):
        fields = {name: value for name, value in record.fields.items() if name != "id"}
        gathering.add(record.text("id"), **fields)
    part = Collection(
        name="sample",
        memories=gathering.memories,
        questions=tuple(_mini_questions(questions, set(gathering.memories))),
    )
    return Dataset(
        suite=Suite.LOCOMO,
        source=folder.name,
        sha256=digest([turns, questions]),
        collections=(part,),
        findings={},
    )


def _mini_questions(file: Path, known: set[str]) -> Iterator[Question]:
    for record in read_lines(file):
        gold = record.fields.get("gold")
        if not isinstance(gold, list) or not known.issuperset(gold):
            raise BadFile(f"{record.where}: `gold` names turns that are not there.")
        yield Question(
            id=record.text("id"),
            text=record.text("question"),
            category=_CATEGORIES[record.text("category")],
            gold=tuple(gold),
            official=tuple(gold),
        )
