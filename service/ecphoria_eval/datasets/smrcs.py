"""Read SMRCs, the conversations of SynapticRAG: which turns a later turn of the chat brings back.

A record has the turns of a `past` and a `present` conversation, and `recalls`: each a turn that
triggers, with the earlier turns that belong to it. The trigger is the question, so it is not
stored; the other turns are, those after it too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ecphoria.calibration.labelled import Record, digest
from ecphoria.errors import BadFile
from ecphoria_eval.datasets.dataset import (
    Collection,
    Dataset,
    Gathering,
    Question,
    Suite,
    data_files,
    gathered,
    read_list,
)

_CATEGORY = "1"
_SESSIONS = ("past", "present")


def is_smrcs(record: Record) -> bool:
    """Tell whether the first record of a file is of this format."""
    return {*_SESSIONS, "recalls"} <= record.fields.keys()


def load_smrcs(path: Path) -> Dataset:
    """Read a file, or a folder of files.

    Raises:
        BadFile: A file or a record is not of this format; names the record.
    """
    files = data_files(path, (".json",))
    findings: Counter[str] = Counter()
    records = [record for file in files for record in read_list(file)]
    return Dataset(
        suite=Suite.CHATS,
        source=path.name,
        sha256=digest(files),
        collections=tuple(
            _conversation(str(number), record, findings) for number, record in enumerate(records)
        ),
        findings=dict(sorted((+findings).items())),
    )


def _conversation(name: str, record: Record, findings: Counter[str]) -> Collection:
    recalls = list(record.records("recalls"))
    triggers = {recall.text("trigger") for recall in recalls}
    gathering = gathered(findings)
    stored = {
        text: ident
        for session in _SESSIONS
        for text, ident in _turns(record, session, triggers, gathering)
    }
    questions = (_question(str(place), recall, stored, findings)
                 for place, recall in enumerate(recalls))  # fmt: skip
    return Collection(name=name, memories=gathering.memories, questions=tuple(questions))


def _turns(
    record: Record, session: str, triggers: set[str], gathering: Gathering
) -> Iterator[tuple[str, str]]:
    """Add the turns of a session that trigger nothing; give the text and the id of each."""
    for position, turn in enumerate(record.records(session), start=1):
        if len(turn.fields) != 1:
            raise BadFile(f"{turn.where} is not one text of one speaker.", record=turn.where)
        (role,) = turn.fields
        text, ident = turn.text(role), f"{session}:{position}"
        if text not in triggers:
            gathering.add(
                ident, text=text, session=session, position=position, speaker=role, role=role
            )
            if ident in gathering.memories:
                yield text, ident


def _question(
    ident: str, recall: Record, stored: Mapping[str, str], findings: Counter[str]
) -> Question:
    related = recall.fields.get("related_memories")
    if not isinstance(related, list):
        raise recall.bad("related_memories", "a list")
    gold = tuple(dict.fromkeys(stored[one] for one in related if one in stored))
    findings["related memories that are no turn's text"] += sum(
        one not in stored for one in related
    )
    findings["questions without evidence"] += not gold
    return Question(
        id=ident, text=recall.text("trigger"), category=_CATEGORY, gold=gold, official=gold
    )
