"""Details that a cue asks for, and texts that may tell them."""

import pytest

from ecphoria.text.cue import asked_detail
from ecphoria.text.details import Detail, any_tells
from ecphoria.text.languages import languages_of
from ecphoria.text.phrasebook import in_english


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
        ("Where does Ana live?", None),
        ("What did the vet say?", None),
        ("Who waters the plants?", None),
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


def test_what_follows_counts_if_it_refers_back() -> None:
    about = ["We have found a new vet."]
    for behind, tells in (("She is Mrs. Lindqvist.", True), ("Went to Paris with Ines.", False)):
        assert any_tells(Detail.NAME, _CUE, about=about, behind=[behind]) is tells
