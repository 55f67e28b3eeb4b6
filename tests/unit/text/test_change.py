"""A later statement replaces an earlier one by its words, and lists and events replace nothing."""

import pytest

from ecphoria.text.change import Wanted, replaces, restates, wanted
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
        ("I live in Bath.", "We moved from our flat to a house in Bristol."),
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


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My phone number is 555-0123.", "I got a new phone number: 555-0199."),
        ("My phone number is 555-0123.", "I have a new number now, it's 555-0199."),
        ("My phone number is 555-0123.", "New phone number: 555-0199"),
        ("My work number is 555-0123.", "The office gave me a new work number, 555-0199."),
        ("My email is ana@old.org.", "I have a new email address: ana@new.org"),
        ("Our wifi password is tulip.", "We changed our wifi password, it's rose now."),
        ("Meine Telefonnummer ist 0151-12.", "Ich habe eine neue Telefonnummer: 0151-99."),
        ("Meine Adresse ist Mühlweg 3.", "Meine neue Adresse: Gartenweg 7."),
        ("My boss is Ms. Reyes.", "My boss is now Mr. Dunn."),
        ("My boss is Ms. Reyes.", "Mr. Dunn is my boss now."),
        ("Ms. Reyes is my boss.", "I have a new boss: Mr. Dunn."),
        ("My manager is Alice.", "My manager is now Bob."),
        ("Meine Chefin ist Frau Reyes.", "Mein Chef ist jetzt Herr Dunn."),
        ("Meine Chefin heißt Anna Kern.", "Meine Chefin heißt jetzt Petra Vogt."),
        ("I run three times a week.", "I run only once a week now."),
        ("I run three times a week by the river.", "I only run once a week now."),
        ("I run every morning.", "I only run twice a week now."),
        ("I run 5 times a week.", "I run twice a week now."),
        ("I see my tutor twice a week.", "I see my tutor once a month now."),
        ("I go to bed at 10.", "I go to bed at 11 now."),
        ("Ich laufe dreimal die Woche.", "Ich laufe nur noch einmal die Woche."),
        ("We use MySQL for the orders service.", "We moved from MySQL to PostgreSQL."),
        ("We use MySQL for the orders.", "We moved from MySQL to Oracle for the orders."),
        ("The orders service runs on MySQL.", "We moved from MySQL to PostgreSQL."),
        ("We use MySQL for the orders service.", "We replaced MySQL with PostgreSQL in May."),
        ("Wir nutzen MySQL für die Bestellungen.", "Wir sind von MySQL auf Oracle umgezogen."),
        ("Unser Wiki läuft auf MySQL.", "Wir sind von MySQL zu Oracle gewechselt."),
    ],
)
def test_a_change_of_a_number_a_person_a_habit_or_a_tool(earlier: str, later: str) -> None:
    assert outdates(earlier, later)
    assert not outdates(earlier, earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I got a new book: Emma.", "I got a new book: Dune."),
        ("I have a new friend: Ann.", "I have a new friend: Bea."),
        ("My phone number is 555-0123.", "Ben has a new phone number: 555-0199."),
        ("My phone number is 555-0123.", "I got Ben a new phone number: 555-0199."),
        ("My phone number is 555-0123.", "I have a new work number: 555-0199."),
        ("My phone number is 555-0123.", "I have the plumber's number: 555-0199."),
        ("My boss is Ms. Reyes.", "My boss is now in Linz."),
        ("My boss is Ms. Reyes.", "My boss is now a mother."),
        ("My boss is strict.", "My boss is now Mr. Dunn."),
        ("My boss is Ms. Reyes.", "My sister's boss is now Mr. Dunn."),
        ("My boss is Ms. Reyes.", "Her boss is now Mr. Dunn."),
        ("My wife is Ann.", "My wife is now British."),
        ("I'm married to Ann.", "I dropped a cup and it broke."),
        ("Mein Chef ist Uwe Kern.", "Mein Chef ist jetzt Vater."),
        ("Mein Chef ist Uwe Kern.", "Mein Chef ist jetzt im Urlaub."),
        ("I run three times a week.", "My brother runs only once a week now."),
        ("I run three times a week.", "I swim only once a week now."),
        ("I run three times a week.", "I run now and then with Ben."),
        ("I see Ana once a week.", "I see a doctor once a month now."),
        ("I go to the gym three times a week.", "I go to the cinema once a week now."),
        ("We use MySQL for the orders service.", "We moved from Linz to Graz last summer."),
        ("We use MySQL for the orders service.", "We moved the blog from MySQL to PostgreSQL."),
        ("We use MySQL for the orders.", "We moved from MySQL to PostgreSQL for the blog."),
        ("We use MySQL for the orders service.", "Ben moved from MySQL to PostgreSQL."),
        ("Ben's shop runs on MySQL.", "We moved from MySQL to PostgreSQL."),
        ("Their shop runs on MySQL.", "We moved from MySQL to PostgreSQL."),
        ("My parents live in Linz.", "We moved from Linz to Graz."),
        ("I live in Linz.", "We moved from MySQL to PostgreSQL."),
        ("We moved from MySQL to PostgreSQL.", "We moved from Linz to Graz last summer."),
        ("We moved from Slack to Teams.", "We moved to Leeds last week."),
        ("Ich wohne in Linz.", "Wir sind von MySQL auf Oracle umgezogen."),
    ],
)
def test_what_is_near_to_such_a_change(earlier: str, later: str) -> None:
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
    ("cue", "value"),
    [
        ("Where did I live before?", Wanted.FORMER),
        ("What was my old rent?", Wanted.FORMER),
        ("What did my rent use to be?", Wanted.FORMER),
        ("What was my address before the current one?", Wanted.FORMER),
        ("What was the rent previously?", Wanted.FORMER),
        ("Wo habe ich früher gewohnt?", Wanted.FORMER),
        ("Wie hoch war meine alte Miete?", Wanted.FORMER),
        ("Who was my first boss?", Wanted.FIRST),
        ("Wie hoch war die Miete ursprünglich?", Wanted.FIRST),
        ("What was my rent in 2023?", Wanted.PAST),
        ("How has my rent changed?", Wanted.PAST),
        ("What did I tell you before about my rent?", Wanted.PAST),
        ("Where do I live?", Wanted.NEWEST),
        ("What do I use to deploy the shop?", Wanted.NEWEST),
        ("Which tool is used to deploy the shop?", Wanted.NEWEST),
        ("How old is my dog?", Wanted.NEWEST),
        ("Who of us is 5 years old?", Wanted.NEWEST),
        ("Wie alt ist mein Hund?", Wanted.NEWEST),
        ("What is my first name?", Wanted.NEWEST),
        ("What do I drink before breakfast?", Wanted.NEWEST),
        ("Where do I live now?", Wanted.NEWEST),
        ("Wie hoch ist die Miete?", Wanted.NEWEST),
        ("What is planned for 2027?", Wanted.NEWEST),
        ("What is my current rent, it changed before?", Wanted.NEWEST),
    ],
)
def test_which_value_a_cue_asks_for(cue: str, value: Wanted) -> None:
    assert wanted(cue, 2026) is value
