import numpy as np
import pytest

from ecphoria.consolidation.writing import Writer, usable
from ecphoria.ports.chat import NoAnswer, Reply, TextRefused
from ecphoria.ports.engrams import Member


def member(number: int, text: str, speaker: str = "Ann") -> Member:
    vector = np.zeros(8, np.float32)
    vector[number % 8] = 1.0
    return Member(
        id=f"e{number:03}", body_hash="h", speaker=speaker, text=text, length=9, vector=vector
    )


TURNS = [
    member(1, "I moved to Oslo in May with my two cats."),
    member(2, "The flat by the harbour is small but bright.", "Ben"),
    member(3, "We are painting the kitchen blue, it takes 3 days."),
]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ann moved to Oslo in May. [1]", "Ann moved to Oslo in May."),
        ("- Ann moved to Oslo. [1]\n\n* The flat is small. [2]",
         "Ann moved to Oslo.\nThe flat is small."),
        ("Painting the kitchen took 3 days [3].", "Painting the kitchen took 3 days"),
        ("Ann moved into a small flat in Oslo. [1][2]", "Ann moved into a small flat in Oslo."),
        ("They paint a kitchen, [1], [3]", "They paint a kitchen,"),
    ],
)  # fmt: skip
def test_sentences_that_name_their_turns_are_used_without_the_numbers(
    answer: str, expected: str
) -> None:
    assert usable(answer, TURNS) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n ",
        "Ann moved to Oslo in May.",  # says not where it has that from
        "Ann moved to Oslo in May. [4]",
        "Ann moved to Oslo in May. [0]",
        "[1]",
        "Ann moved to Bergen in May. [1]",  # a name that is not there
        "Ann moved to Oslo with Ben. [1]",  # there, but not in what it names
        "Painting the kitchen takes 5 days. [3]",
        "Everybody remained deeply unsatisfied throughout. [1]",
        "Here is the summary:\nAnn moved to Oslo. [1]",
        "\n".join(["The flat is small. [2]"] * 6),
        "Ann moved to Oslo " + "in May " * 60 + "[1]",
        "the of and [1]",
    ],
)
def test_what_the_turns_do_not_bear_out_is_not_used(answer: str) -> None:
    assert usable(answer, TURNS) == ""


class Scripted:
    """Answers what it is told to, in turn; a text, or an error to raise."""

    model = "m"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, purpose: str, instruction: str, text: str) -> Reply:
        assert (purpose, bool(instruction)) == ("session", True)
        self.asked.append(text)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(text=answer, tokens=10)

    async def close(self) -> None:
        pass


GOOD, BAD = "Ann moved to Oslo. [1]", "Nonsense."


async def test_what_can_be_used_rests_on_all_that_was_read() -> None:
    chat = Scripted(GOOD)
    writer = Writer(chat, "session", dry_run=False)
    summary = await writer.summary(TURNS)
    assert (summary.text, summary.method, summary.final) == ("Ann moved to Oslo.", "llm:m", True)
    assert summary.evidence == ("e001", "e002", "e003")
    assert chat.asked[0].splitlines()[1] == "[2] Ben: The flat by the harbour is small but bright."
    assert (writer.counts, writer.degraded) == ({"asked": 1, "tokens": 10}, ())
    assert "m" in writer.by


async def test_one_more_try_and_then_the_turns_own_words() -> None:
    writer = Writer(Scripted(BAD, GOOD, BAD, BAD, GOOD), "session", dry_run=False)
    assert (await writer.summary(TURNS)).method == "llm:m"
    second = await writer.summary(TURNS)
    assert (second.method, second.final) == ("extractive", True)
    assert (await writer.summary(TURNS)).method == "llm:m"
    assert writer.counts == {"asked": 5, "tokens": 50}
    assert writer.degraded == (
        "1 summaries are extractive: what the model said could not be used",
    )
    assert not writer.is_owing


async def test_a_text_that_is_refused_is_not_sent_again() -> None:
    writer = Writer(Scripted(TextRefused("x"), GOOD), "session", dry_run=False)
    first = await writer.summary(TURNS)
    assert (first.method, first.final) == ("extractive", True)
    assert (await writer.summary(TURNS)).method == "llm:m"


async def test_a_silent_model_is_left_alone_and_asked_another_time() -> None:
    chat = Scripted(NoAnswer("down"), GOOD)
    writer = Writer(chat, "session", dry_run=False)
    both = [await writer.summary(TURNS) for _ in range(2)]
    assert [(one.method, one.final) for one in both] == [("extractive", False)] * 2
    assert len(chat.asked) == 1
    assert (writer.degraded, writer.is_owing) == (("summaries are extractive: down",), True)


async def test_a_dry_run_asks_nobody_and_names_the_same_writer() -> None:
    chat = Scripted()
    dry = Writer(chat, "session", dry_run=True)
    assert (await dry.summary(TURNS)).final
    assert (chat.asked, dry.by) == ([], Writer(chat, "session", dry_run=False).by)
    without = Writer(None, "session", dry_run=False)
    assert ((await without.summary(TURNS)).method, without.by, without.counts) == (
        "extractive", "", {}
    )  # fmt: skip


async def test_of_many_turns_sixty_are_read_in_their_order() -> None:
    many = [member(number, f"Turn {number} of the talk.") for number in range(1, 100)]
    chat = Scripted("Turns of the talk. [1]")
    summary = await Writer(chat, "session", dry_run=False).summary(many)
    lines = chat.asked[0].splitlines()
    assert len(lines) == len(summary.evidence) == 60
    read = [int(line.split("Turn ")[1].split()[0]) for line in lines]
    assert read == sorted(read)
    assert summary.evidence == tuple(f"e{number:03}" for number in read)
