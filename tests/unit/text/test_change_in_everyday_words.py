"""Changes told in everyday words: some the rules were written on, and others that they were not.

Of `OTHER`, figures were looked at while the rules were written, and its false marks; not its
missed changes.
"""

import pytest

from ecphoria.text.change import replaces
from ecphoria.text.statements import read_statements

LIKENESS = 0.6
KNOWN = 28
"""Changes of `OWN` that the rules find."""
OTHERS = 24

OWN_CHANGES = (
    (
        "We're renting a flat in Plymouth.",
        "We packed up Plymouth and our new place is in Swansea.",
    ),
    (
        "My parents live in a bungalow in Rye.",
        "My parents sold the bungalow and live in Hove now.",
    ),
    ("Ich habe ein Zimmer in Fulda.", "Ich bin aus Fulda weggezogen und wohne jetzt in Worms."),
    (
        "I'm a junior analyst at Birch Capital.",
        "I got promoted to senior analyst at Birch Capital.",
    ),
    ("I teach maths at Elm Grove School.", "I left Elm Grove School and teach at Riverside now."),
    (
        "Ich leite das Team Einkauf.",
        "Ich leite das Team Einkauf nicht mehr, jetzt mache ich Vertrieb.",
    ),
    (
        "The parking permit is 60 pounds a year.",
        "They put the parking permit up to 75 pounds a year.",
    ),
    ("My salary is 52000.", "I got a raise, my salary is 56000 now."),
    ("Das Monatsticket kostet 49 Euro.", "Das Monatsticket kostet ab Januar 58 Euro."),
    (
        "My favourite band is Portishead.",
        "I've gone off Portishead, my favourite band is Morcheeba now.",
    ),
    ("I take my coffee with two sugars.", "I take my coffee black now, no sugar."),
    (
        "Ich lese abends am liebsten Krimis.",
        "Krimis mag ich nicht mehr, abends lese ich jetzt Biografien.",
    ),
    ("I take 50 mg of sertraline in the morning.", "My doctor upped the sertraline to 75 mg."),
    ("I'm vegetarian.", "I'm not vegetarian any more, I eat fish again."),
    ("Ich jogge dreimal die Woche.", "Wegen dem Knie jogge ich nicht mehr."),
    ("Standup is at 9:30.", "Standup is at 10 from next week on."),
    (
        "My dentist appointment is on the 4th of May.",
        "The dentist moved my appointment to the 11th of May.",
    ),
    (
        "Der Elternabend ist am Dienstag um 19 Uhr.",
        "Der Elternabend wurde auf Donnerstag um 19 Uhr verschoben.",
    ),
    ("Our backend is written in Python.", "We rewrote the backend in Go."),
    ("I take my notes in Obsidian.", "I take my notes in Logseq now."),
    ("Wir deployen mit Ansible.", "Wir deployen inzwischen mit Terraform statt mit Ansible."),
    ("I'm dating Oliver.", "Oliver and I split up last month."),
    ("My girlfriend is called Hannah.", "Hannah and I aren't together anymore."),
    ("Jana ist meine Verlobte.", "Jana und ich haben letzte Woche geheiratet."),
    ("I have a Canon camera.", "I swapped my Canon for a Fuji."),
    ("We have two cats, Misty and Bo.", "We gave Bo away, so we have only one cat now."),
    ("Mein Handy ist ein Pixel 6.", "Ich habe jetzt ein Pixel 9 statt dem Pixel 6."),
    ("I'm flying to Denver on Friday.", "My Denver flight got cancelled."),
    ("The release is planned for March.", "The release slipped to April."),
    (
        "Wir wollen im Sommer nach Korsika.",
        "Aus Korsika wird nichts, wir bleiben im Sommer zu Hause.",
    ),
)
OWN_SAME = (
    ("I have a Canon camera.", "I have a tripod."),
    ("I take vitamin D.", "I take 20 mg of zinc now."),
    ("We use Python for the scripts.", "We use Go for the backend now."),
    ("Ich lese gern Krimis.", "Ich lese jetzt einen Roman über Island."),
    ("My favourite band is Portishead.", "My favourite book is Dune now."),
    ("I love hiking.", "I love baking now."),
    ("We drove to Plymouth yesterday.", "We are driving to Swansea now."),
    (
        "I have a dentist appointment on the 4th of May.",
        "I have an eye appointment on the 11th of May.",
    ),
    ("The plumber moved the pipe to the wall.", "We moved the sofa to the window."),
    ("Wir waren im Sommer auf Korsika.", "Wir fahren jetzt nach Worms."),
    ("I met Oliver at the gym.", "I met Hannah at the gym now and then."),
    ("I paid 60 pounds for the ticket.", "I paid 75 pounds for the shoes."),
    ("My salary is 52000.", "My wife's salary is 56000 now."),
    ("I live in Plymouth.", "My parents moved to Swansea."),
    ("Anna works at Elm Grove School.", "Ben left Riverside and works at the bank now."),
    ("Meine Schwester hat einen Hund.", "Meine Mutter hat jetzt eine Katze."),
    ("I'm dating Oliver.", "My sister and her husband split up."),
    ("Ich jogge dreimal die Woche.", "Mein Bruder joggt nicht mehr."),
    ("The parking permit is 60 pounds a year.", "The gym went up to 75 pounds a year."),
    ("The backend is written in Python.", "The frontend is now written in Svelte."),
    ("Our meeting with sales is at 9:30.", "Our meeting with legal is at 10 now."),
    ("Der Drucker steht im Flur.", "Der Scanner steht jetzt im Keller."),
    ("My bike is a Trek.", "My car is a Skoda now."),
    ("I take 50 mg of sertraline in the morning.", "I still take 50 mg of sertraline."),
    ("Standup is at 9:30.", "Standup stays at 9:30, nothing changed."),
    ("Das Monatsticket kostet 49 Euro.", "Das Monatsticket kostet jetzt wirklich 49 Euro."),
    ("I'm vegetarian.", "I am now sure that I stay vegetarian."),
    ("Our backend is written in Python.", "We thought about moving the backend to Go."),
    ("I'm flying to Denver on Friday.", "My flight to Denver is confirmed now."),
    ("Wir wollen nach Korsika.", "Wir überlegen, statt nach Korsika nach Sardinien zu fahren."),
)
OTHER_CHANGES = (
    (
        "I share a house with four students in Exmouth.",
        "I no longer share a house, I've got my own studio in Torquay.",
    ),
    ("Home is a cottage near Whitby.", "Home is a flat in York these days."),
    ("Wir wohnen noch in der alten Wohnung in Soest.", "Seit gestern wohnen wir in Hamm."),
    (
        "I'm a waiter at the Blue Anchor.",
        "I've stopped waiting tables, I drive a delivery van now.",
    ),
    ("My manager is Deborah.", "My new manager is Colin, Deborah went on leave."),
    (
        "Ich studiere Chemie in Halle.",
        "Ich habe das Studium abgebrochen und mache jetzt eine Lehre.",
    ),
    ("The cleaner charges 14 pounds an hour.", "The cleaner charges 16 pounds an hour now."),
    ("We pay 35 euros for the phone contract.", "Our phone contract jumped to 42 euros."),
    (
        "Die Garage kostet uns 80 Euro.",
        "Die Garage ist teurer geworden, sie kostet jetzt 95 Euro.",
    ),
    ("I only drink decaf.", "I'm back on regular coffee instead of decaf."),
    ("My go-to takeaway is Thai.", "My go-to takeaway is Lebanese now."),
    ("Ich höre beim Kochen am liebsten Jazz.", "Beim Kochen höre ich inzwischen lieber Podcasts."),
    ("I swim twice a week.", "I swim four times a week now."),
    ("I am allergic to cats.", "I had the shots and I am not allergic to cats anymore."),
    (
        "Mein Blutdruckmittel ist Ramipril.",
        "Der Arzt hat mir statt Ramipril jetzt Candesartan verschrieben.",
    ),
    ("Yoga is on Wednesdays at 18:00.", "Yoga has been moved to Fridays at 18:00."),
    ("The exam is on the 3rd of June.", "They postponed the exam to the 17th of June."),
    ("Die Müllabfuhr kommt montags.", "Die Müllabfuhr kommt ab jetzt mittwochs."),
    ("We track bugs in Jira.", "We track bugs in Linear now, Jira is gone."),
    ("I edit my videos with Premiere.", "I've switched to Resolve for editing my videos."),
    ("Unsere Datenbank ist MySQL 5.7.", "Wir haben die Datenbank auf MySQL 8 aktualisiert."),
    ("Marcus is my boyfriend.", "Marcus is my husband now."),
    ("I live with my fiancé Dan.", "Dan moved out and I live alone now."),
    ("Ich bin seit zwei Jahren mit Paula zusammen.", "Paula hat mit mir Schluss gemacht."),
    ("I drive my dad's old Volvo.", "The Volvo is scrapped, I take the bus now."),
    ("My laptop is a ThinkPad.", "I replaced my ThinkPad with a MacBook."),
    ("Wir haben ein Boot am See.", "Das Boot am See haben wir verkauft."),
    ("We're having the party on Saturday.", "The party on Saturday isn't happening."),
    (
        "I want to study law in Leiden.",
        "I decided against law, I'm going to study history in Leiden instead.",
    ),
    ("Am Wochenende besuchen wir Oma.", "Den Besuch bei Oma am Wochenende mussten wir absagen."),
)
OTHER_SAME = (
    ("I have a red kayak.", "I have a new paddle now."),
    ("We track bugs in Jira.", "We track hours in Harvest now."),
    ("I like Thai food.", "I like Lebanese food now as well."),
    ("I am allergic to cats.", "I am allergic to pollen."),
    ("Ich trinke morgens Tee.", "Ich trinke abends jetzt Wein."),
    ("I ordered a Thai curry yesterday.", "I ordered a Lebanese plate today."),
    ("The exam in physics is on the 3rd of June.", "The exam in maths is on the 17th of June."),
    ("We swapped seats on the train.", "We changed to another train."),
    ("Wir haben das Boot geputzt.", "Wir haben die Räder geputzt und verkauft."),
    ("I am making soup.", "I am watching a film now."),
    ("My manager is Deborah.", "My husband's new manager is Colin."),
    ("I swim twice a week.", "My daughter swims four times a week now."),
    ("Marcus is my boyfriend.", "Lena and her boyfriend got married."),
    ("Ich studiere Chemie.", "Mein Sohn hat das Studium abgebrochen."),
    ("We live in Soest.", "The neighbours moved to Hamm."),
    ("The cleaner charges 14 pounds an hour.", "The gardener charges 16 pounds an hour now."),
    ("Yoga is on Wednesdays at 18:00.", "Choir has been moved to Fridays at 19:00."),
    ("Unsere Datenbank ist MySQL 5.7.", "Wir haben den Cache auf Redis 7 aktualisiert."),
    ("Die Müllabfuhr kommt montags.", "Die Post kommt jetzt mittwochs."),
    ("My laptop is a ThinkPad.", "I replaced my phone with a Pixel."),
    ("The exam is on the 3rd of June.", "The exam is definitely on the 3rd of June now."),
    (
        "I drive my dad's old Volvo.",
        "I should have sold the Volvo years ago, but I still drive it.",
    ),
    ("We're having the party on Saturday.", "The party on Saturday isn't cancelled."),
    ("Ich bin mit Paula zusammen.", "Paula und ich sind nun schon drei Jahre zusammen."),
    ("Wir haben ein Boot am See.", "Wir haben das Boot am See doch nicht verkauft."),
)


def outdates(earlier: str, later: str) -> bool:
    return any(
        replaces(new, old, LIKENESS)
        for new in read_statements(later)
        for old in read_statements(earlier)
    )


@pytest.mark.parametrize(("pairs", "least"), [(OWN_CHANGES, KNOWN), (OTHER_CHANGES, OTHERS)])
def test_most_changes_are_seen(pairs: tuple[tuple[str, str], ...], least: int) -> None:
    assert sum(outdates(*pair) for pair in pairs) >= least


@pytest.mark.parametrize(("earlier", "later"), [*OWN_SAME, *OTHER_SAME])
def test_what_still_holds_is_not_marked(earlier: str, later: str) -> None:
    assert not outdates(earlier, later)


BEGUN = (
    ("My supervisor is Ann.", "As of this week my supervisor is Bob Miller."),
    ("My landlord is Mr. Kern.", "Since May, my landlord is Ms. Wolf."),
    ("My phone number is 555-0100.", "Heads up: as of today my phone number is 555-0177."),
    ("Our standup is at 9:30.", "Starting Monday our standup is at 10:00."),
    ("My dentist is Dr. Lee.", "This month I got a new dentist, Dr. Park."),
    ("Meine Vermieterin ist Frau Kern.", "Seit Mai ist Frau Wolf meine Vermieterin."),
    ("Mein Chef ist Herr Berg.", "Seit letzter Woche ist Frau Tal meine Chefin."),
    ("Meine Nummer ist 555-0100.", "Ab morgen lautet meine Nummer 555-0177."),
    ("Ich wohne in Bern.", "Seit März wohne ich in Basel."),
)
STILL = (
    ("My boss is Ann Lee.", "Since last week my boss is sick."),
    ("Mein Chef ist Herr Berg.", "Seit letzter Woche ist mein Chef krank."),
    ("My cat is called Pixel.", "Since today my cat sleeps outside."),
    ("I have a dog.", "Since May I have a cat."),
    ("Our standup is at 9:30.", "Today our standup is at 11:00."),
    ("My sister lives in Rome.", "Last week my sister was in Paris."),
)


@pytest.mark.parametrize(("earlier", "later"), BEGUN)
def test_the_time_in_front_of_a_sentence_tells_from_when_it_holds(
    earlier: str, later: str
) -> None:
    assert outdates(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), STILL)
def test_a_time_in_front_of_another_value_changes_nothing(earlier: str, later: str) -> None:
    assert not outdates(earlier, later)


RETOLD = (
    ("The staging IP is 10.0.0.5.", "staging moved! new ip is 10.0.0.9"),
    ("the staging ip is 10.0.0.5", "staging has a new ip: 10.0.0.9"),
    ("The wifi password is hunter2.", "The wifi was reset. New password is otter9."),
    ("Die Staging-IP ist 10.0.0.5.", "Staging ist umgezogen! Die neue IP ist 10.0.0.9."),
    ("Tom reviews auth changes.", "From now on Priya reviews the auth changes."),
    ("Bo handles billing.", "Mia now handles billing."),
    ("I review the auth changes.", "From now on Priya reviews the auth changes."),
    ("Lena macht die Buchhaltung.", "Ab jetzt macht Jan die Buchhaltung."),
    ("Sam is responsible for the invoices.", "Lee is now responsible for the invoices."),
    ("We deploy on Fridays.", "Deploys are on Tuesdays now."),
    ("Deploys are on Fridays.", "From now on we deploy on Tuesdays."),
    ("Wir deployen freitags.", "Wir deployen jetzt dienstags."),
    ("The cat's pill is in the morning.", "The cat's pill is now in the evening."),
    ("Leo gets his insulin at 8.", "Leo gets his insulin at 9 now."),
    ("Die Tablette der Katze ist morgens.", "Die Tablette der Katze ist jetzt abends."),
    ("My favourite browser is Firefox.", "I switched from Firefox to Brave."),
    ("Swimming is on Tuesday.", "I moved the swimming to Friday because of the release day."),
    ("Backups run on Saturdays.", "Backups run on Sundays now."),
    ("Reports go out on Mondays.", "Reports now go out on Tuesdays."),
    ("Standup is at noon.", "Standup is at 6 pm."),
    ("Das Standup ist mittags.", "Das Standup ist jetzt um 18 Uhr."),
    ("The migration is on Monday.", "Moved: migration on Tuesday."),
    ("Die Migration ist am Montag.", "Verschoben: Migration am Dienstag."),
    ("The deadline is Friday.", "The deadline is now the end of the week."),
)
OTHER_THINGS = (
    ("the staging ip is 10.0.0.5", "prod moved! new ip is 10.0.0.9"),
    ("the staging ip is 10.0.0.5", "staging is slow now. The new build is 4.2."),
    ("Our office is in Bern.", "We moved! New desk is oak."),
    ("Tom reviews auth changes.", "Priya reviews the billing changes now."),
    ("Tom reviews auth changes.", "Priya reviews the auth changes."),
    ("Tom reviews auth changes.", "Priya also reviews the auth changes now."),
    ("Tom hosts the podcast.", "Ann hosts a podcast now."),
    ("Deploys are on Fridays.", "Deploys are done by Omar now."),
    ("Die Deploys sind freitags.", "Die Deploys sind jetzt bei Omar."),
    ("Standup is at noon.", "Standup is led by Ann now."),
    ("Backups run on Saturdays.", "Backups run on the new server now."),
    ("Backups run on Saturdays.", "Exports run on Sundays now."),
    ("The migration is on Monday.", "Moved: dentist on Tuesday."),
    ("Lunch is at noon.", "Lunch with Ben is at 6 pm."),
    ("Jan macht Sport.", "Lena macht jetzt Sport."),
    ("Ana manages well.", "Bo manages well now."),
    ("We deploy on Fridays.", "Deploys are on Tuesday this week."),
    ("We deploy on Fridays.", "We also deploy on Tuesdays now."),
    ("We deploy on Fridays.", "The docs deploys are on Tuesdays now."),
    ("I swim on Mondays.", "I run on Wednesdays now."),
    ("My cat is black.", "My cat is now in the garden."),
    ("My cat's vet is Dr. Lee.", "My cat's vet is on holiday now."),
    ("The cat's pill is in the morning.", "The dog's pill is now in the evening."),
    ("Release day is Thursday.", "I moved the swim to Thursday because of the release day."),
    ("Die Prüfung ist am Montag.", "Ich habe das Training wegen der Prüfung auf Freitag verlegt."),
)


@pytest.mark.parametrize(("earlier", "later"), RETOLD)
def test_another_value_of_a_thing_or_a_task_is_seen(earlier: str, later: str) -> None:
    assert outdates(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), OTHER_THINGS)
def test_another_thing_or_task_changes_nothing(earlier: str, later: str) -> None:
    assert not outdates(earlier, later)


ONE_KIND = (
    ("The meeting is in the library.", "The meeting is in room 5 now."),
    ("The standup is at 9.", "The standup is at 10 now."),
    ("The retro is on Friday.", "The retro moved to Thursday."),
    ("Die Probe ist in der Aula.", "Die Probe ist jetzt im Musikraum."),
    ("Tests run on Jenkins.", "Tests run on GitHub Actions now."),
    ("Our backups run on tapes.", "Our backups run on S3 now."),
    ("Der Müll wird dienstags abgeholt.", "Der Müll wird jetzt donnerstags abgeholt."),
    ("Die Fenster werden jeden Montag geputzt.", "Die Fenster werden jetzt freitags geputzt."),
)
"""Both values are places, times, tools or days."""
TWO_KINDS = (
    ("The meeting is on Monday.", "The meeting is in room 5 now."),
    ("The meeting is on Monday.", "The meeting moved to room 5."),
    ("The meeting is in the library.", "The meeting is on Monday now."),
    ("The course is at 6 pm.", "The course is in the big hall now."),
    ("The course is on Tuesdays.", "The course is 300 euros now."),
    ("The report is due on Friday.", "The report is written by Omar now."),
    ("Der Kurs ist am Montag.", "Der Kurs ist jetzt in Raum 12."),
    ("Der Kurs ist im Keller.", "Der Kurs ist jetzt mittwochs."),
    ("Der Müll wird dienstags abgeholt.", "Das Altpapier wird jetzt donnerstags abgeholt."),
)
"""A place and a time, a time and an amount, a time and a person; and two things."""


@pytest.mark.parametrize(("earlier", "later"), ONE_KIND)
def test_another_value_of_the_same_kind_is_seen(earlier: str, later: str) -> None:
    assert outdates(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), TWO_KINDS)
def test_a_value_of_another_kind_changes_nothing(earlier: str, later: str) -> None:
    assert not outdates(earlier, later)
