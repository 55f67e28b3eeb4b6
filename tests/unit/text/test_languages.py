# ruff: noqa: RUF001 (scripts of many languages)
"""Which language a text is in, and what the rules read in it."""

import pytest

from ecphoria.text.asking import Saying, read_asking
from ecphoria.text.cue import analyse, turn_features
from ecphoria.text.english import STOP_WORDS
from ecphoria.text.languages import LANGUAGES, languages_of, main_language
from ecphoria.text.names import candidate_spans
from ecphoria.text.tokens import words


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Where did we leave the keys of the boat?", []),
        ("He left. I saw Mia.", []),
        ("Ben", []),
        ("", []),
        ("Wo haben wir den Schlüssel gelassen?", ["de"]),
        ("Dejamos las llaves en la casa de mi hermana", ["es"]),
        ("Nous avons laissé les clés chez ma sœur", ["fr"]),
        ("Abbiamo lasciato le chiavi della barca da mia sorella", ["it"]),
        ("Deixamos as chaves do barco com a minha irmã, não foi?", ["pt"]),
        ("We hebben de sleutels bij mijn zus gelaten", ["nl"]),
        ("Vi lämnade nycklarna hos min syster och åkte hem", ["sv"]),
        ("Zostawiliśmy klucze, ale nie u mojej siostry", ["pl"]),
        ("Anahtarları bir komşuda bıraktık ama çok geç oldu", ["tr"]),
        ("dog", []),
        ("son's birthday, red door", []),
        ("Door wie is dat gedaan?", ["nl"]),
        ("Ключи у сестры", ["ru"]),
        ("المفاتيح عند أختي", ["ar"]),
        ("चाबी बहन के पास है", ["hi"]),
        ("钥匙在姐姐那里", ["zh"]),
        ("鍵は姉のところにあります", ["ja"]),
        ("열쇠는 누나에게 있다", ["ko"]),
        ("Анна лives in 東京", ["ru", "zh"]),
    ],
)
def test_the_language_of_a_text(text: str, codes: list[str]) -> None:
    assert [language.code for language in languages_of(text)] == codes


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Where did we leave the keys of the boat?", "English"),
        ("Wo haben wir den Schlüssel gelassen?", "German"),
        ("The sign says 東京, and the train is late", "English"),
        ("我用 Python 写代码", "Chinese"),
        ("鍵は姉のところにあります", "Japanese"),
        ("Τα κλειδιά είναι εδώ", "Greek"),
        ("กุญแจอยู่ที่บ้าน", "Thai"),
        ("Leipzig 2024", None),
        ("aGVsbG8gd29ybGQ=", None),
        ("\U0001f600", None),
        ("", None),
    ],
)
def test_the_main_language_of_a_text(text: str, name: str | None) -> None:
    assert main_language(text) == name


def test_every_table_is_whole() -> None:
    for code, language in LANGUAGES.items():
        table = language.calendar
        sizes = [len(table[name]) for name in ("months", "weekdays", "numbers")]
        assert sizes == [12, 7, 12], code
        assert len(table["units"]) in {4, 5}, code
        assert len(table.get("seasons", range(4))) == 4, code
        assert (language.letters is None) == (language.stemmer is not None), code
        assert len(language.silent) > 40, code


@pytest.mark.parametrize(
    ("cue", "is_when", "first_person"),
    [
        ("Wann sind meine Eltern angekommen?", True, True),
        ("Wo wohnt der Hausmeister?", False, False),
        ("¿Cuándo compré mi coche?", True, True),
        ("Depuis quand habite-t-il ici avec moi ?", True, True),
        ("In che anno abbiamo venduto la nostra casa?", True, True),
        ("Wanneer heb ik de fiets gekocht?", True, True),
        ("Когда я купил лодку?", True, True),
        ("متى اشتريت القارب مع صديقي؟", True, False),
        ("我什么时候买的船？", True, True),
        ("いつ船を買いましたか", True, False),
        ("मैंने नाव कब खरीदी?", False, True),
        ("When did the ferry leave?", True, False),
        ("Can you remind me how the ferry is booked?", False, False),
        ("Remind me what we booked.", False, True),
        ("Erinnere mich daran, wie die Fähre heißt.", False, False),
    ],
)
def test_a_cue_is_read_in_its_language(cue: str, is_when: bool, first_person: bool) -> None:
    found = analyse(cue, ())
    assert (found.is_when, found.first_person) == (is_when, first_person)


def test_a_cue_is_sought_without_the_question_words_of_its_language() -> None:
    assert analyse("Welche Farbe hat das Boot?", ()).stems == ("farb", "hat", "da", "boot")
    assert analyse("什么颜色", ()).stems == ("颜色",)
    assert analyse("色はどれ", ()).stems == ("色は",)
    assert analyse("什么茶", ()).stems == ("茶",)
    assert analyse("What is 茶?", ()).stems == ("茶",)
    assert analyse("What colour is the boat?", ()).stems == ("colour", "boat")


def test_function_words_of_a_cue_are_silent_in_their_own_language_only() -> None:
    assert {"hat", "da"} <= analyse("Welche Farbe hat das Boot?", ()).silent
    for cue in ("Wie viele Boote haben wir?", "Wieviel können die Boote?", "Wogegen sind Boote?"):
        analysis = analyse(cue, ())
        assert {*analysis.stems} - analysis.silent <= {"boot"}, cue
    assert analyse("Who has the red hat and the war bonnet?", ()).silent == frozenset()


@pytest.mark.parametrize(
    "asked",
    [
        "你喜欢茶吗？",
        "你喜欢茶吗",
        "هل تحب الشاي؟",
        "お茶は好きですか。",
        "차를 좋아하나요",
        "Tea?",
    ],
)
def test_a_question_ends_as_its_script_ends_it(asked: str) -> None:
    assert turn_features(asked).is_question
    assert read_asking(asked).saying is Saying.ASKS


@pytest.mark.parametrize(
    "stated", ["我喜欢茶。", "أحب الشاي.", "お茶が好きです。", "मुझे चाय पसंद है।"]
)
def test_a_statement_is_no_question(stated: str) -> None:
    assert not turn_features(stated).is_question
    assert read_asking(stated).saying is Saying.STATES


def test_a_turn_speaks_of_speaker_and_listener() -> None:
    said = turn_features("Gestern habe ich dir das Boot gezeigt.")
    assert said.first_person
    assert said.second_person
    assert said.has_time_expression
    told = turn_features("Der Hafen liegt im Norden der Insel.")
    assert {told.first_person, told.second_person, told.has_time_expression} == {False}


def test_function_words_bound_no_name() -> None:
    assert list(candidate_spans("Wir sahen, dass Unsere Anna Berg auf der Fähre war.")) == [
        "Anna Berg",
        "Fähre",
    ]


def test_english_words_tell_no_other_language() -> None:
    for word in STOP_WORDS:
        assert languages_of(word) == (), word
        assert words(word) == [word]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Quanto custa o aluguel?", "pt"),
        ("Que dia é a reunião?", "pt"),
        ("Qual è la password?", "it"),
        ("Was kostet die Miete?", "de"),
        ("Was fehlt dem Hund?", "de"),
        ("Var jobbar Anna?", "sv"),
        ("Hvor jobber Kari?", "nb"),
        ("Hvor arbejder Jens?", "da"),
        ("Was the rent moved?", ""),
    ],
)
def test_near_languages_are_told_apart(text: str, code: str) -> None:
    assert "".join(one.code for one in languages_of(text)) == code
