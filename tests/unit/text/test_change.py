"""A later statement replaces an earlier one by its words, and lists and events replace nothing."""

import pytest

from ecphoria.text.change import asks_for_the_past, replaces, restates
from ecphoria.text.statements import LONGEST, read_statements


def outdates(earlier: str, later: str, likeness: float = 1.0) -> bool:
    return any(
        replaces(new, old, likeness)
        for new in read_statements(later)
        for old in read_statements(earlier)
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My rent is 800.", "My rent is 950."),
        ("My rent is 800.", "The landlord raised my rent to 950."),
        ("The rent is 800 euros a month.", "The rent is now 950 euros a month."),
        ("I live in Bath.", "We moved to Bristol last month."),
        ("I live in Bath.", "I no longer live in Bath."),
        ("I live in Bath.", "I live in Bristol."),
        ("I work at Cobb & Co.", "I joined Hale Press this week."),
        ("We use Jest for the tests.", "We switched the tests from Jest to Mocha."),
        ("The shop runs on Postgres 15.", "We migrated the shop to Postgres 17."),
        ("I drink tea at noon.", "I drink coffee instead of tea at noon."),
        ("I am single.", "I got married in May."),
        ("My guitar lesson is on Monday at 5.", "My guitar lesson was moved to Thursday at 6."),
        ("I own a Golf.", "I sold the Golf."),
        ("We are going to fly to Rome.", "We cancelled the trip to Rome."),
        ("I take 10 mg of zinc.", "I take 20 mg of zinc now."),
        ("My favourite colour is green.", "My favourite colour is blue."),
        ("I drive a Golf.", "I sold the Golf and bought a Polo."),
        ("My brother Leo lives in Bath.", "Leo moved to Bristol last month."),
        ("My brother Leo lives in Bath.", "Leo moved to Bristol in March."),
        ("My next guitar lesson is on Monday at 5.", "My guitar lesson was moved to 9 June at 6."),
        ("My shift is on Saturday night.", "My shift was moved to Sunday morning."),
        ("The party is on Friday at 8 pm.", "We moved the party to Saturday."),
        (
            "We clean the oven every Monday at 9.",
            "From now on we clean on Fridays instead of Mondays.",
        ),
    ],
)
def test_a_change_in_english(earlier: str, later: str) -> None:
    assert outdates(earlier, later)
    assert not outdates(earlier, earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Meine Miete beträgt 800 Euro.", "Meine Miete beträgt 950 Euro."),
        ("Die Miete ist 800 Euro.", "Die Miete ist auf 950 Euro gestiegen."),
        ("Ich wohne in Bonn.", "Ich bin nach Köln gezogen."),
        ("Ich wohne in Bonn.", "Ich wohne nicht mehr in Bonn."),
        ("Ich arbeite bei Adler.", "Ich habe bei Falke angefangen."),
        ("Ich trinke mittags Tee.", "Ich trinke mittags jetzt Kaffee statt Tee."),
        ("Ich bin ledig.", "Ich habe geheiratet."),
        ("Ich fahre einen Golf.", "Ich habe den Golf verkauft."),
        ("Wir fliegen im Mai nach Rom.", "Die Reise nach Rom fällt aus."),
        ("Die Probe ist um 18 Uhr.", "Die Probe wurde auf 19 Uhr verlegt."),
    ],
)
def test_a_change_in_german(earlier: str, later: str) -> None:
    assert outdates(earlier, later)
    assert not outdates(earlier, earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I bought a lamp.", "I bought a chair."),
        ("I like chess.", "I like rowing now too."),
        ("I ran 5 km.", "I ran 8 km."),
        ("Dinner is on Monday.", "Dinner is on Friday."),
        ("My rent is 800.", "My brother's rent is now 950."),
        ("My rent is 800.", "The rent of the office went up to 1200."),
        ("My rent is 800.", "My rent is still 800."),
        ("My rent is 800.", "The rent might be raised to 950."),
        ("My rent is 800.", "Was the rent raised to 950?"),
        ("I live in Bath.", "My sister moved to Bristol."),
        ("My sister lives in Bath.", "My cousin lives in Bristol."),
        ("My favourite film is Vertigo.", "My favourite song is Yesterday."),
        ("I live in Bath.", "I moved the sofa to the window."),
        ("I work at Cobb & Co.", "I joined a gym."),
        ("I will run the marathon.", "I won't give up the marathon."),
        ("Ich habe eine Lampe gekauft.", "Ich habe einen Stuhl gekauft."),
        ("Meine Miete ist 800 Euro.", "Die Miete meines Bruders ist jetzt 950 Euro."),
        ("Ich wohne in Bonn.", "Meine Schwester ist nach Köln gezogen."),
        ("Der Flug meiner Mutter landet um 7:50 Uhr.", "Mein Flug landet jetzt um 19:05 Uhr."),
        ("Mein Flug landet um 19:05 Uhr.", "Der Flug meiner Mutter landet um 7:50 Uhr."),
    ],
)
def test_no_change(earlier: str, later: str) -> None:
    assert not outdates(earlier, later)


def test_a_change_without_the_thing_needs_a_memory_alike() -> None:
    assert outdates("I live in Bath.", "We moved to Bristol.", likeness=0.5)
    assert not outdates("I live in Bath.", "We moved to Bristol.", likeness=0.0)


def test_an_earlier_value_is_no_change_of_the_later_one() -> None:
    assert not outdates("I sold the Golf.", "I own a Golf.")


def test_a_value_said_again() -> None:
    old, again = read_statements("My rent is 800."), read_statements("My rent is 800 again.")
    other = read_statements("My rent is 950.")
    assert restates(again[0], old[0])
    assert not restates(other[0], old[0])


def test_code_questions_and_long_texts_state_nothing() -> None:
    assert not read_statements("Is my rent 800?")
    assert not read_statements("```\nmy rent is 800\n```")
    assert not read_statements("My rent is 800. " + "x" * LONGEST)


@pytest.mark.parametrize(
    "cue",
    [
        "Where did I live before?", "What did I use to drink?", "What was my rent in 2023?",
        "Who was my first boss?", "How has my rent changed?", "Wo habe ich früher gewohnt?",
        "Wie hoch war damals die Miete?", "What was the rent previously?",
    ],
)  # fmt: skip
def test_a_cue_about_the_past(cue: str) -> None:
    assert asks_for_the_past(cue, 2026)


@pytest.mark.parametrize(
    "cue",
    [
        "Where do I live?", "What is my first name?", "What do I drink before breakfast?",
        "Where do I live now?", "Wie hoch ist die Miete?", "What is planned for 2027?",
        "What is my current rent, it changed before?",
    ],
)  # fmt: skip
def test_a_cue_about_the_present(cue: str) -> None:
    assert not asks_for_the_past(cue, 2026)
