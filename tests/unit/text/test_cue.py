from datetime import date

import numpy as np
import pytest

from ecphoria.text.cue import analyse, as_meant, introduction, is_of_another
from ecphoria.text.dates import told_times

PEOPLE = ("Dana", "Lee Ann", "Lee", "Will")
TODAY = date(2024, 5, 15)


def test_the_one_person_named_is_the_subject_and_leaves_terms_and_text() -> None:
    cue = analyse("What  did dana's sister paint?", PEOPLE)
    assert (cue.names, cue.subject) == (("Dana",), "Dana")
    assert cue.stems == ("sister", "paint")
    assert cue.stripped == "What did sister paint?"


def test_two_people_make_no_subject() -> None:
    cue = analyse("Do Lee and Dana sail?", PEOPLE)
    assert (cue.names, cue.subject) == (("Lee", "Dana"), None)


def test_the_longest_name_counts() -> None:
    assert analyse("Where is LEE ANN?", PEOPLE).names == ("Lee Ann",)


def test_names_count_as_whole_words() -> None:
    cue = analyse("Is the fleet in Danaland?", PEOPLE)
    assert (cue.names, cue.subject) == ((), None)
    assert cue.stems == ("fleet", "danaland")


def test_a_name_that_is_a_stop_word_counts_as_written() -> None:
    assert analyse("Where will it be?", PEOPLE).names == ()
    assert analyse("Where is Will?", PEOPLE).names == ("Will",)


def test_every_participants_words_leave_the_terms() -> None:
    assert analyse("ann sails", PEOPLE).stems == ("sail",)


def test_a_cue_of_names_alone_is_encoded_whole() -> None:
    assert analyse(" Dana? ", PEOPLE).stripped == "Dana?"


@pytest.mark.parametrize(
    ("text", "is_when"),
    [
        ("When did it start?", True),
        ("  how long has it run", True),
        ("Which month was it?", True),
        ("Tell me when", False),
        ("What colour is it?", False),
    ],
)
def test_questions_for_a_time(text: str, *, is_when: bool) -> None:
    assert analyse(text, ()).is_when is is_when


@pytest.mark.parametrize("name", ["", " ", "(", "a+", "\\", "C++"])
def test_any_participant_name_is_safe(name: str) -> None:
    cue = analyse("Who wrote C++ here?", (name,))
    assert cue.names == ((name,) if name == "C++" else ())


@pytest.mark.parametrize(
    ("text", "stems", "stripped"),
    [
        ("List all my hobbies", ("hobbi",), "all my hobbies"),
        ("Can you show me the parser?", ("parser",), "the parser?"),
        ("Do you remember my size?", ("size",), "my size?"),
        ("Remind me to sail", ("remind", "sail"), "Remind me to sail"),
        ("list", ("list",), "list"),
        ("Zeig mir meine Lampen", ("mein", "lampen"), "meine Lampen"),
    ],
)
def test_words_that_only_ask_for_an_answer_are_no_terms(
    text: str, stems: tuple[str, ...], stripped: str
) -> None:
    cue = analyse(text, PEOPLE)
    assert (cue.stems, cue.stripped) == (stems, stripped)


@pytest.mark.parametrize(
    ("text", "stem", "other"),
    [
        ("my allergies", "allergi", "allerg"),
        ("Am I allergic to nuts?", "allerg", "allergi"),
        ("Where does she live?", "live", "move"),
        ("What is my job?", "job", "work"),
    ],
)
def test_another_word_stands_for_the_one_of_a_cue(text: str, stem: str, other: str) -> None:
    assert analyse(text, PEOPLE).also == {stem: (other,)}


@pytest.mark.parametrize(
    ("text", "stems", "dated"),
    [
        ("What did I bake yesterday?", ("bake",), (2024, 5, 14, True)),
        ("What happened last week?", ("happen",), (2024, 5, 9, False)),
        ("What did I bake last month?", ("bake",), (2024, 4, None, False)),
        ("Was habe ich gestern gebacken?", ("habe", "ich", "gebacken"), (2024, 5, 14, True)),
    ],
)
def test_a_told_time_is_a_date_and_no_term(
    text: str, stems: tuple[str, ...], dated: tuple[int, int, int | None, bool]
) -> None:
    cue = analyse(text, PEOPLE, told_times(text, TODAY))
    (found,) = cue.dates
    assert (found.year, found.month, found.day, found.exact) == dated
    assert cue.stems == stems
    assert cue.asks_of_time == ("happen" in stems)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("What happened in the last three days?", [13]),
        ("Was ist in den letzten zwei Wochen passiert?", [12, 5, 1]),
        ("What happened in the past 3 years?", []),
    ],
)
def test_the_last_days_are_dated_by_their_weeks(text: str, days: list[int]) -> None:
    cue = analyse(text, PEOPLE, told_times(text, TODAY))
    assert [(one.month, one.day) for one in cue.dates] == [(5, day) for day in days]


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("What did we talk about yesterday?", True),
        ("Was haben wir gestern besprochen?", True),
        ("What happened on 8 May 2023?", True),
        ("What did Dana mention in March?", True),
        ("Was ist am 3. Juli passiert?", True),
        ("What did I do on 2023-07-03?", True),
        ("What did I bake on 8 May?", False),
        ("Did we talk on 8 May?", False),
        ("What did we talk about?", False),
    ],
)
def test_a_cue_may_ask_for_a_time_alone(text: str, *, alone: bool) -> None:
    assert analyse(text, PEOPLE, told_times(text, TODAY)).asks_of_time == alone


@pytest.mark.parametrize("text", ["How are you today?", "What is on tomorrow?", "What is new?"])
def test_a_greeting_or_a_time_to_come_asks_for_no_time(text: str) -> None:
    assert not analyse(text, PEOPLE, told_times(text, TODAY)).asks_of_time


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("When does Mona bake?", {"mona"}),
        ("Rolf's cake", {"rolf"}),
        ("Rolf bakes in May on Monday", set()),
        ("Does Dana bake?", set()),
        ("Wann hat der Bäcker in Bremen auf?", set()),
    ],
)
def test_names_that_are_no_speakers_are_read_by_their_capital(text: str, names: set[str]) -> None:
    assert analyse(text, PEOPLE).written_names == names


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What is my name?", True),
        ("Do you know my name?", True),
        ("Who am I?", True),
        ("Was ist mein Name?", True),
        ("Weißt du noch, wie ich heiße?", True),
        ("What is my dog's name?", False),
        ("Who am I meeting today?", False),
        ("Wie heißt mein Hund?", False),
    ],
)
def test_a_cue_may_ask_for_the_askers_name_alone(text: str, *, asks: bool) -> None:
    assert analyse(text, PEOPLE).asks_name == asks


@pytest.mark.parametrize(
    ("spoken", "found"),
    [
        ("I'm Ana.", "name"),
        ("Hello, I am Ana Roe and I bake.", "name"),
        ("Nice to meet you. Call me Bo!", "name"),
        ("My name's Zoë, by the way.", "name"),
        ("Ich heiße Özlem.", "name"),
        ("Ich bin Ana.", "maybe"),
        ("I'm a baker.", ""),
        ("I am tired.", ""),
        ("My dog's name is Rex.", ""),
        ("I'm Ana's sister.", ""),
        ("Ich bin im Büro.", ""),
    ],
)
def test_a_turn_may_tell_its_speakers_name(spoken: str, found: str) -> None:
    assert introduction(spoken) == found


@pytest.mark.parametrize(
    ("spoken", "stem", "theirs"),
    [
        ("My sister's birthday is in May.", "birthdai", True),
        ("Ben has his birthday in May.", "birthdai", True),
        ("The birthday of my sister is in May.", "birthdai", True),
        ("Der Geburtstag meiner Schwester ist im Mai.", "geburtstag", True),
        ("Sein Geburtstag ist im Mai.", "geburtstag", True),
        ("My birthday is in May.", "birthdai", False),
        ("It's my birthday, not my sister's birthday.", "birthdai", False),
        ("It's birthday time!", "birthdai", False),
        ("We baked a birthday cake.", "birthdai", False),
        ("Your birthday is in May.", "birthdai", False),
        ("Last month's rent was 800.", "rent", False),
        ("My flat's rent is 800.", "rent", False),
        ("The rent of my flat is 800.", "rent", False),
        ("Die Miete meiner Wohnung ist 800.", "miet", False),
        ("Die Miete meiner Schwester ist 800.", "miet", True),
        ("Ben's rent is 800.", "rent", True),
        ("His rent is 800.", "rent", True),
        ("The user said that her birthday is in May.", "birthdai", False),
        ("Dana's birthday is in May.", "birthdai", False),
    ],
)
def test_a_thing_may_be_somebody_elses(spoken: str, stem: str, *, theirs: bool) -> None:
    assert bool(is_of_another(spoken, stem, "Dana")) == theirs


@pytest.mark.parametrize(
    ("cue", "role"),
    [
        ("Who is the CEO of Acme?", {"ceo"}),
        ("So who's Ana's new boss?", {"boss"}),
        ("Who is the person behind it?", set()),
        ("Who is Ana?", set()),
        ("Who waters the plants?", set()),
        ("Wer ist die neue Chefin der Firma?", {"chefin"}),
        ("Wie heißt Bens Trainer?", {"trainer"}),
        ("Wer ist für das Lager zuständig?", set()),
    ],
)
def test_the_role_of_the_person_asked_for(cue: str, role: set[str]) -> None:
    assert analyse(cue, ()).roles == role


@pytest.mark.parametrize(
    ("text", "asker"),
    [
        ("Which database do we use?", False),
        ("What is our port?", False),
        ("Wann ziehen wir mit unserem Büro um?", False),
        ("What did I say about our port?", True),
        ("Wann ziehe ich um?", True),
    ],
)
def test_we_means_all_who_speak(text: str, *, asker: bool) -> None:
    cue = analyse(text, PEOPLE)
    assert (cue.first_person, cue.means_asker) == (True, asker)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("What happened on 4 August?", [{"4", "august"}]),
        ("What broke on the 4th of August 2026?", [{"4th", "august"}]),
        ("What did we decide on 2026-09-25?", [{"09", "25"}]),
        ("Was geschah am 3. März?", [{"3", "marz"}]),
        ("What happened in June 2023?", []),
        ("What did we do at Christmas?", []),
        ("4月1日に何をした？", []),  # noqa: RUF001
    ],
)
def test_the_words_of_a_stated_day(text: str, days: list[set[str]]) -> None:
    assert [set(day) for day in analyse(text, ()).days] == days


@pytest.mark.parametrize(
    ("text", "also"),
    [
        ("What did Ana do on 3 April?", {"3": {"3rd", "third"}}),
        ("What did Ana do on April 12th?", {"12th": {"12", "twelfth"}}),
        ("What is on 21 June, and on 30 August?", {"21": {"21st"}, "30": {"30th"}}),
        ("What did we decide on 2026-09-25?", {}),
        ("What did Ana do in April?", {}),
    ],
)
def test_the_number_of_a_stated_day_has_other_forms(text: str, also: dict[str, set[str]]) -> None:
    assert {stem: set(forms) for stem, forms in analyse(text, ()).also.items()} == also


def test_another_name_is_not_the_askers_once_it_was_told() -> None:
    cue = analyse("What is my name?", ())
    turns = (
        "What was the name of that place?",
        "Is my name on the list?",
        "Hi! I'm Ana Roe, a cook.",
    )
    counts = np.array([[1.0], [1.0], [0.0]])
    assert as_meant(counts, cue.stems, turns, cue, "").tolist() == [[0.0], [1.0], [1.0]]
    assert as_meant(counts[:2], cue.stems, turns[:2], cue, "").tolist() == [[1.0], [1.0]]
