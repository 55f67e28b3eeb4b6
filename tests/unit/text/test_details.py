"""Details that a cue asks for, and texts that may tell them."""

import pytest

from ecphoria.text.cue import asked_detail
from ecphoria.text.details import Detail
from ecphoria.text.languages import languages_of
from ecphoria.text.phrasebook import in_english
from ecphoria.text.telling import any_tells


@pytest.mark.parametrize(
    ("cue", "detail"),
    [
        ("What is the name of the neurologist?", Detail.NAME),
        ("What's my landlord's name?", Detail.NAME),
        ("What is our new dog called?", Detail.NAME),
        ("Who is the new conductor?", Detail.NAME),
        ("¿Cómo se llama el perro del vecino?", Detail.NAME),
        ("Wie heißt mein Zahnarzt?", Detail.NAME),
        ("Wie ist der Name des Klempners?", Detail.NAME),
        ("What is my doctor's email address?", Detail.MAIL),
        ("What is the phone number of the plumber?", Detail.PHONE),
        ("Wie ist die Telefonnummer vom Klempner?", Detail.PHONE),
        ("What is the wifi password at the cabin?", Detail.PASSWORD),
        ("Which colour is the shed?", Detail.COLOUR),
        ("Welche Farbe hat das Fahrrad?", Detail.COLOUR),
        ("How much do I owe my flatmate?", Detail.AMOUNT),
        ("How old is Ben?", Detail.AMOUNT),
        ("What was the price of the bike?", Detail.AMOUNT),
        ("Wie alt ist mein Vater?", Detail.AMOUNT),
        ("¿Cuánto cuesta el curso?", None),
        ("How much do you like it?", None),
        ("How much time is left?", None),
        ("How are you?", None),
        ("What did the vet say?", None),
        ("When is the opera?", Detail.TIME),
        ("What time does the bus leave?", Detail.TIME),
        ("Which day is the pottery class?", Detail.TIME),
        ("When did the washing machine come?", None),
        ("Tell me when you have time.", None),
        ("How long is the flight?", Detail.DURATION),
        ("How long have I been in the choir?", None),
        ("How often is the piano tuned?", Detail.FREQUENCY),
        ("How often did I go to the gym?", None),
        ("Where does Ana live?", Detail.PLACE),
        ("The café where we met, is it open?", None),
        ("Who waters the plants?", Detail.PERSON),
        ("With whom did I go to Rome?", Detail.PERSON),
        ("What did the man who came say?", None),
        ("Wann ist die Oper?", Detail.TIME),
        ("Um wie viel Uhr beginnt die Oper?", Detail.TIME),
        ("Wann wird die Heizung gewechselt?", Detail.TIME),
        ("Wann war die Oper?", None),
        ("Wann ist Oma umgezogen?", None),
        ("Wie lange dauert der Flug?", Detail.DURATION),
        ("Wie lange bin ich im Chor?", None),
        ("Wie oft wird das Klavier gestimmt?", Detail.FREQUENCY),
        ("Wie oft war ich im Kino?", None),
        ("Wo wohnt Ana?", Detail.PLACE),
        ("Mit wem fahren wir?", Detail.PERSON),
        ("Wer gießt die Blumen?", Detail.PERSON),
        ("¿Dónde vive Ana?", None),
    ],
)
def test_the_detail_that_a_cue_asks_for(cue: str, detail: Detail | None) -> None:
    languages = languages_of(cue)
    assert asked_detail(in_english(cue, languages), languages) is detail


_CUE = "What is the name of the vet?"


@pytest.mark.parametrize(
    ("detail", "text", "tells"),
    [
        (Detail.NAME, "The vet is open until 9 in May.", False),
        (Detail.NAME, "Dentist: a crown is needed, 780 euros.", False),
        (Detail.NAME, "Booked the vet for Monday. I hope it helps.", False),
        (Detail.NAME, "What was the name of the vet?", True),
        (Detail.NAME, "Our vet is Dr. Moore.", True),
        (Detail.NAME, "A new vet has come, a Mrs. Lindqvist.", True),
        (Detail.NAME, "Rex bit the vet.", True),
        (Detail.NAME, "the vet, ana, was nice", True),
        (Detail.NAME, "I called the vet, and nobody answered.", False),
        (Detail.NAME, "The vet is called ana.", True),
        (Detail.NAME, "", True),
        (Detail.MAIL, "Write to the vet.", False),
        (Detail.MAIL, "Write to vet@example.org.", True),
        (Detail.PHONE, "The vet is open from 9 to 12.", False),
        (Detail.PHONE, "The vet: 0521 88 41.", True),
        (Detail.PASSWORD, "The wifi of the vet is slow.", False),
        (Detail.PASSWORD, "The vet's wifi has the password hamster.", True),
        (Detail.COLOUR, "I forgot my umbrella at the vet.", False),
        (Detail.COLOUR, "The vet wears a greenish coat.", True),
        (Detail.COLOUR, "Das Rad ist dunkelblau.", True),
        (Detail.AMOUNT, "The vet was expensive.", False),
        (Detail.AMOUNT, "The vet took forty-five euros.", True),
        (Detail.AMOUNT, "Die Tierärztin nahm zwölf Euro.", True),
        (Detail.AMOUNT, "", True),
    ],
)
def test_texts_that_may_tell_a_detail(detail: Detail, text: str, *, tells: bool) -> None:
    assert any_tells(detail, _CUE, about=[text], behind=()) is tells


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("Zahnarzt am Dienstag um neun, der Zahn tut wieder weh.", False),
        ("Der Zahnarzt nahm 180 Euro.", False),
        ("Unser Zahnarzt will die Miete nicht erhöhen.", False),
        ("Mein Zahnarzt ist Dr. Moore.", True),
        ("Es gibt einen neuen Zahnarzt, Herrn Okonkwo.", True),
        ("Der Zahnarzt Okonkwo ist gut.", True),
        ("Henrik hat den Zahnarzt gesehen.", True),
        ("Der Zahnarzt heißt wie ich.", True),
        ("Ich war mit Mia beim Zahnarzt.", True),
        ("Endlich ein Zahnarzt in der Nähe: Okonkwo, in unserer Straße.", True),
    ],
)
def test_german_nouns_are_no_names(text: str, *, tells: bool) -> None:
    assert any_tells(Detail.NAME, "Wie heißt mein Zahnarzt?", about=[text], behind=()) is tells


@pytest.mark.parametrize(
    ("cue", "text", "tells"),
    [
        ("When is the opera?", "Ruth wants to go to the opera with me.", False),
        ("When is the opera?", "The opera is on the 12th.", True),
        ("When is the opera?", "The opera begins at dusk.", True),
        ("When is the opera?", "The opera was wonderful.", True),  # the memory has a date
        ("When is the opera?", "The opera is planned.", False),
        ("When is the opera?", "Die Oper ist schön.", True),  # the cue's language is read
        ("Wann ist die Oper?", "The opera is nice.", False),  # it is taken for English
        ("How long is the flight?", "The flight is full.", False),
        ("How long is the flight?", "The flight takes all night.", True),
        ("How often do I see Ana?", "Ana is the one with the dog.", False),
        ("How often do I see Ana?", "I see Ana on Mondays.", True),
        ("How much do I owe Ana?", "Ana wants the forty back.", True),
        ("Where is the office?", "The new office has no parking.", False),
        ("Where is the office?", "The move to the office is planned.", False),
        ("Where is the office?", "The office opens on Monday.", False),
        ("Where is the office?", "The office is in a mill.", True),
        ("Where is my key?", "Your key is in one of the drawers.", True),
        ("Where is my key?", "Your key hangs on monitors.", True),
        ("Where is the office?", "Our office is downtown.", True),
        ("Where is the office?", "We like Lisbon, and the office is nice.", True),
        ("Where is the office?", "Office: third floor.", True),
        ("Where is the office?", "the office, lisbon", True),
        ("Who broke the vase?", "Somebody broke the vase.", False),
        ("Who broke the vase?", "The vase is broken.", False),
        ("Who broke the vase?", "A guest broke the vase.", True),
        ("Who broke the vase?", "Dad broke the vase.", True),
        ("Who visited dad?", "Dad is ill.", False),
        ("Who broke the vase?", "I broke the vase.", True),
        ("Who broke the vase?", "Broke the vase, sorry.", True),
        ("Who broke the vase?", "Rex knocked the vase over.", True),
        ("Who broke the vase?", "Vase: Ines.", True),
        ("Who broke the vase?", "the vase, ines", True),
        ("Who broke the vase?", "", True),
        ("Wann ist die Oper?", "Ruth will mit mir in die Oper.", False),
        ("Wann ist die Oper?", "Die Oper ist am 12.", True),
        ("Wann ist die Oper?", "Die Oper war wunderbar.", True),
        ("Wie lange dauert der Flug?", "Der Flug ist ausgebucht.", False),
        ("Wie lange dauert der Flug?", "Der Flug dauert zwei Stunden.", True),
        ("Wie oft wird das Klavier gestimmt?", "Das Klavier wurde gestimmt.", False),
        ("Wie oft wird das Klavier gestimmt?", "Das Klavier wird jährlich gestimmt.", True),
        ("Wo ist das Büro?", "Das neue Büro hat keinen Parkplatz.", False),
        ("Wo ist das Büro?", "Das Büro öffnet am Montag.", False),
        ("Wo ist das Büro?", "Das Büro ist in einer Mühle.", True),
        ("Wo ist das Büro?", "Das Büro ist nebenan.", True),
        ("Wer hat die Vase zerbrochen?", "Jemand hat die Vase zerbrochen.", False),
        ("Wer hat die Vase zerbrochen?", "Die Vase ist zerbrochen.", False),
        ("Wer hat die Vase zerbrochen?", "Der Hund hat die Vase zerbrochen.", True),
        ("Wer hat die Vase zerbrochen?", "Oma hat die Vase zerbrochen.", True),
        ("Wer hat die Vase zerbrochen?", "Ich habe die Vase zerbrochen.", True),
    ],
)
def test_texts_that_may_tell_when_where_and_who(cue: str, text: str, *, tells: bool) -> None:
    detail = asked_detail(cue, languages_of(cue))
    assert detail is not None
    assert any_tells(detail, cue, about=[text], behind=()) is tells


def test_what_follows_counts_if_it_refers_back() -> None:
    about = ["We have found a new vet."]
    for behind, tells in (("She is Mrs. Lindqvist.", True), ("Went to Paris with Ines.", False)):
        assert any_tells(Detail.NAME, _CUE, about=about, behind=[behind]) is tells
