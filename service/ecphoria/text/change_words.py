"""The words by which English and German tell that something changed, ended or still holds.

Patterns match words in lower case without accents, joined by one blank, as `tokens.words` gives
them: "don't" is `don t`, "läuft" is `lauft`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ecphoria.text.english import CONTRACTED, MONTHS, STOP_WORDS, WEEKDAYS
from ecphoria.text.german import FUNCTION_WORDS as GERMAN_FUNCTION_WORDS
from ecphoria.text.german import MONTHS as GERMAN_MONTHS
from ecphoria.text.german import WEEKDAYS as GERMAN_WEEKDAYS
from ecphoria.text.tokens import porter, words

_COMMON: Final = frozenset(
    words("a am an any and are as at be been by did do don from had has have i in is it m my not"
          " of on or re s t than that the to was were with won you auf das der die ein es ich im"
          " in ist nach nicht von wie wir zu")
)  # fmt: skip
_LITERAL: Final = re.compile(r"(?<![\\\w])(?P<word>[a-z]+)(?P<more>\\w)?")


class Phrases:
    """Phrases that a clause may have; patterns are tried only beside one of their words."""

    def __init__(self, listed: str) -> None:
        """Compile phrases that `/` or a line break parts; each matches whole words only."""
        phrases = [phrase.strip() for phrase in re.split(r"[/\n]", listed) if phrase.strip()]
        self._pattern = re.compile(rf"\b(?:{'|'.join(phrases)})\b")
        found = [match for phrase in phrases for match in _rare(phrase)]
        self._words = frozenset(match["word"] for match in found if not match["more"])
        self._starts = tuple({match["word"] for match in found if match["more"]})

    def within(self, said: Sequence[str], spoken: str) -> bool:
        """Tell whether one of the phrases is in a clause, given as words and as one text."""
        if self._words.isdisjoint(said) and not any(start in spoken for start in self._starts):
            return False
        return self._pattern.search(spoken) is not None


def _rare(phrase: str) -> Sequence[re.Match[str]]:
    """List the words of a phrase by which it is found; common ones only if it has no other."""
    found = list(_LITERAL.finditer(phrase))
    return [match for match in found if match["word"] not in _COMMON] or found


def _stems(listed: str) -> frozenset[str]:
    return frozenset(porter(word) for word in words(listed))


_DAYS: Final = "|".join((*WEEKDAYS, *MONTHS))
_GERMAN_DAYS: Final = "|".join(words(" ".join((*GERMAN_WEEKDAYS, *GERMAN_MONTHS))))

NOW: Final = Phrases(
    rf"""
    now / nowadays / these days / from now on / as of / instead / for good / (?:anymore|any more)
    from (?:next|tomorrow|{_DAYS}) / since (?:last|this|yesterday|{_DAYS})
    jetzt / nun / inzwischen / mittlerweile / neuerdings / ab sofort / kunftig / von nun an
    statt / stattdessen / anstatt / nicht mehr / nur noch / sondern / ab jetzt / ab dann
    ab (?:morgen|nachste\w*|kommende\w*|{_GERMAN_DAYS})
    seit (?:gestern|letzte\w*|heute|kurzem|{_GERMAN_DAYS})
    """
)
"""The statement holds from now on, and did not before."""

LASTS: Final = Phrases(
    """
    still / as before / as ever / as always / as usual / same as / as (?:i )?(?:said|told)
    immer noch / noch immer / nach wie vor / weiterhin
    wie (?:gesagt|immer|bisher|zuvor|eh und je)
    unverandert / bleibt / bleiben / stays / remains / unchanged
    """
)
"""The statement held before and still does."""

ADDS: Final = Phrases(
    """
    also / too$ / as well / another / additionally / besides / second / both / extra / sometimes
    auch / ausserdem / zusatzlich / (?<!nur )noch ein\\w* / weitere\\w* / zweite\\w* / beide
    manchmal
    """
)
"""The statement joins others that still hold."""

DOUBTFUL: Final = Phrases(
    """
    trying to / try to / can be / please / bitte / not sure / how to / would / could / might
    maybe / perhaps
    may (?:be|have|well|not|need|get|go|move|change|become|rise)
    wish / hope / hoping / if / whether / should
    consider\\w* / thinking / think(?:s)? about / about to / almost / nearly / unless
    vielleicht / konnte\\w* / hoffe\\w* / uberleg\\w* / wenn / falls / ob / soll / sollte\\w*
    mochte\\w* / fast / beinahe / eventuell
    """
)
"""The statement is no report of something that is so."""

PLANS: Final = Phrases(
    """
    going to / will / plan(?:s|ning)? to / booked / want to / (?:flying|travel(?:l)?ing|driving) to
    re (?:flying|going|travelling) / tickets? (?:to|for) / signed up
    werde\\w* / wird / will / wollen / plane\\w* / gebucht / (?:fliegen|fliege|fahren|fahre|reisen
    |reise) (?:\\w+ ){0,4}nach / nach \\w+ (?:fliegen|fahren|reisen)
    """.replace("\n    |", "|")
)
"""The statement tells a plan."""

CHANGED: Final = Phrases(
    r"""
    (?:moved|switched|changed|raised|increased|lowered|reduced|cut|updated|shifted|pushed|bumped
    |rescheduled|postponed|upgraded|migrated|renamed|swapped|transferred|converted|dropped|brought
    |set(?! up)|relocated|settled|promoted|gone up|went up|goes up|risen|rose|fell|fallen|gone down
    |went down|switching|moving|changing|migrating|upped|jumped|climbed|hiked|slipped|delayed
    |ported|extended|shortened) (?:\w+ ){0,7}?(?:to|by|in|into|onto|until)
    put (?:\w+ ){0,6}?(?:up|down|back) (?:to|by) / brought (?:\w+ ){0,6}?forward
    (?:rewrote|rewritten|rebuilt) (?:\w+ ){0,6}?(?:in|with|on) / decided against
    replaced / traded / swapped / has become / turned into / converted / no longer
    joined / started (?:at|as|with|working) / new job / changed jobs / hired by
    left (?!in |on |to |over|of |side|hand|for |at |with )
    got (?:engaged|married|divorced)
    auf (?:\w+ ){1,7}?(?:gestiegen|gesunken|erhoht|gesenkt|angehoben|geandert|umgestellt|verlegt
    |verschoben|aktualisiert|migriert|reduziert|gewechselt|umgestiegen|umgezogen|gesetzt
    |heraufgesetzt|herabgesetzt|hochgesetzt|gesprungen|geklettert|vorgezogen|vorverlegt|verlangert
    |gekurzt|portiert)
    (?:steigt|sinkt|wechselt|wechsle|wechseln) (?:\w+ ){0,4}?(?:auf|zu)
    (?:zu|nach) (?:\w+ ){1,4}?(?:gewechselt|gezogen|umgezogen)
    ersetzt / eingetauscht / getauscht / umgestiegen / umgezogen / (?:\w+ )?angefangen
    weggezogen / fortgezogen / verschrieben / umgeschrieben / neu gebaut
    befordert / verlobt / geheiratet
    """.replace("\n    |", "|")
)
"""Something became another thing."""

ENDED: Final = Phrases(
    r"""
    no longer
    (?:not|don t|doesn t|isn t|aren t|won t|m not|am not) (?:\w+ ){0,8}?(?:anymore|any more)
    (?:stopped|quit|quitting) \w+ing / quit / gave up / given up / (?:gone|went) off / sold
    resigned
    got rid of / gotten rid of / (?:gave|given) (?:\w+ ){1,6}?away / cancel\w* / called off
    (?:is|are|was) off / dropped(?! off| by| in| out)
    (?:not|won t) (?:\w+ ){0,8}?after all / broke up / split up
    left (?!in |on |to |over|of |side|hand|for |at |with )
    traded / traded in / replaced / scrapped / over with / divorced / separated / gave back
    (?:isn t|aren t|not) happening / fell through / dropped out / decided against / passed away
    (?:is|are) gone / broken up / dumped / got stolen / was stolen / died / moved out
    nicht mehr / kein\w* (?:\w+ ){0,4}?mehr / aufgehort / aufgegeben / verkauft / verschenkt
    weggegeben / abgeschafft / abgesagt / storniert / fallt (?:\w+ ){0,2}?aus / ausgefallen
    geplatzt / absagen / wird nichts / abgebrochen / geschmissen / schluss gemacht / beendet
    abbestellt / gestohlen / geklaut / verschrottet / gestorben / weggezogen / ausgezogen
    gekundigt / verlassen / getrennt / geschieden / doch nicht / eingetauscht / ersetzt
    """
)
"""Something is over."""

CANCELLED: Final = Phrases(
    r"""
    cancel\w* / called off / (?:is|are|was) off / (?:not|won t) (?:\w+ ){0,8}?after all / no longer
    not going / (?:not|won t|don t|m not|am not) (?:\w+ ){0,8}?(?:anymore|any more) / scrapped
    fell through / (?:isn t|aren t|not) happening / decided against
    abgesagt / storniert / fallt (?:\w+ ){0,2}?aus / ausgefallen / geplatzt / doch nicht
    doch kein\w*
    nicht mehr / abgeblasen / absagen / wird nichts
    """
)
"""A plan is given up."""

PERSISTS: Final = Phrases(
    r"""
    (?:won t|not|never|don t|can t|cannot|didn t|wouldn t|isn t|aren t|wasn t
    |hasn t) (?:\w+ ){0,2}?(?:quit|give up|giving up|stop|sell|change|leave|cancel\w*|sold|over
    |off) / (?:nicht|nie|kein\w*) (?:aufgeben|aufhoren|verkaufen|absagen|kundigen
    |verkauft|aufgegeben|abgesagt|gekundigt|abgeschafft|storniert|beendet|abgebrochen|verschenkt)
    """.replace("\n    |", "|")
)
"""Something does not end."""

INSTEAD: Final = re.compile(
    r"\b(?:instead of|rather than|replaced?|traded|swapped|decided against|statt|anstatt"
    r"|anstelle von|prefer (?:\w+ ){1,3}?to|lieber (?:\w+ ){1,3}?als) (?P<old>(?:\w+ ){0,3}?\w+)"
    r"(?=$| (?:to|with|for|by|and|in|on|at|into|durch|gegen|und|jetzt|nun|now)\b)"
)
"""Names a value in whose place another one is put: "instead of tea"."""

DROPPED: Final = re.compile(
    r"\b(?:from|dropped|left|quit|off|no longer|von|aus|nicht mehr|kein\w*|verlassen)"
    r" (?P<old>(?:\w+ ){0,3}?\w+)"
    r"(?=$| (?:to|with|for|by|and|in|on|at|into|auf|zu|durch|gegen|und|sondern|mehr|nach|bei"
    r"|weggezogen|ausgezogen)\b)"
)
"""Names a value that may be the former one: "from Jest to Mocha"."""

TO: Final = re.compile(r"\b(?:to|into|auf|zu|durch|gegen|nach|sondern) ")
"""A new value stands behind the first of these words, else behind the last of `AT`."""

AT: Final = re.compile(
    r"\b(?:with|for|by|onto|at|bei|is|are|ist|sind|prefer|now|jetzt|lieber|in) "
)
"""Words in front of a new value."""

ASKS_FOR_THE_FORMER: Final = Phrases(
    r"""
    (?<!is )(?<!are )(?<!be )(?<!m )(?<!get )(?<!got )used to / did (?:\w+ ){1,5}?use to
    before(?! (?:breakfast|lunch|dinner|bed|noon|work|school|sleep\w*|going))
    previous\w* / former\w* / (?<!how )(?<!years )(?<!year )(?<!months )(?<!weeks )old / earlier
    in the past / back then / back when
    fruher\w* / damals / vorher\w* / zuvor / ehemal\w* / davor / bisherige\w* / alte[nrs]?
    """
)
"""A cue that asks for the value which another one replaced."""

ASKS_FOR_THE_FIRST: Final = Phrases(
    r"""
    at first / originally / original / initially / initial
    first(?! (?:name|aid|floor|class|grade|thing|person|language))
    zuerst / ursprunglich\w* / anfangs / erste[nrs]?
    """
)
"""A cue that asks for the first of several values."""

ASKS_FOR_THE_PAST: Final = Phrases(
    r"""
    at the time / once / ago / last (?:year|month|week|summer|winter|spring|autumn|fall)
    history / over time / (?:has|have|did) (?:\w+ ){0,5}?changed? / what changed / until / prior
    einst / bisher / letzte[ns]? (?:jahr|monat|woche|sommer|winter) / geandert / verandert / bis
    verlauf
    """
)
"""A cue that asks for what was so, maybe at a time, or for all of it."""

ASKS_FOR_NOW: Final = Phrases(
    """
    (?<!before )now / (?<!before the )(?:currently|current) / nowadays / these days / today
    at the moment / at present / latest / newest / still / present / (?:anymore|any more)
    jetzt / aktuell\\w* / zur zeit / zurzeit / derzeit\\w* / momentan\\w* / heute / gerade
    neueste\\w*
    noch / nun / inzwischen / mittlerweile
    """
)
"""A cue that asks for what is so, whatever else it says."""

TELLING: Final = frozenset(
    words("say said tell told mention mentioned talk talked gesagt erzählt erwähnt besprochen")
)
"""Of what was told earlier, no value need be a former one."""

SELF: Final = frozenset(words("i we ich wir"))
OWN: Final = frozenset(words("my our mein meine meinen meinem meiner meines unser unsere unserem"))
ME: Final = frozenset(words("me us mir mich uns"))
OTHERS: Final = frozenset(
    words(
        "his her their your its dein deine deinem sein seine seinem ihr ihre ihrem ihrer euer eure"
    )
)
"""Owners whom a sentence alone does not tell."""

PEOPLE: Final = _stems(
    """
    wife husband partner girlfriend boyfriend son daughter kid kids child children mother mum mom
    father dad parents brother sister uncle aunt grandmother grandfather grandma grandpa cousin
    nephew niece friend boss manager supervisor team colleague coworker flatmate roommate
    neighbour neighbor dog cat doctor dentist teacher landlord baby
    frau mann freundin freund sohn tochter kinder kind mutter vater eltern bruder schwester onkel
    tante oma opa cousin cousine neffe nichte chef kollege kollegin mitbewohner nachbar
    nachbarin hund katze arzt zahnarzt lehrer vermieter baby
    """
)
"""Of these a statement tells many things, so only a frame of its own counts."""

SINGLE: Final = _stems(
    """
    favourite favorite lieblingsessen lieblingsgetrank lieblingsfarbe name address adresse password
    passwort code pin email number nummer editor language employer arbeitgeber plan deadline
    budget limit rent miete version salary gehalt weight gewicht height size schedule default
    dosage dose dosis address anschrift tariff tarif provider anbieter home zuhause laptop phone
    handy ip url hostname
    """
)
"""Nouns that have one value at a time, so that another value tells a change."""

GENERIC: Final = _stems(
    """
    trip plan subscription reservation appointment booking flight holiday vacation journey visit
    ticket thing membership reise flug urlaub abo reservierung termin buchung ausflug besuch
    mitgliedschaft
    """
)
"""Nouns that a cancelled plan has in addition to its own words."""

_CALENDAR: Final = (*MONTHS, *WEEKDAYS, *GERMAN_WEEKDAYS, *GERMAN_MONTHS)
_NEAR_DAYS: Final = ("tomorrow", "today", "morgen", "heute")
CALENDAR: Final = frozenset(porter(word) for word in words(" ".join((*_CALENDAR, *_NEAR_DAYS))))
"""Days: two of them tell two appointments, not a change."""

_DAY: Final = (
    r"(?:(?:start|beginning|end|anfang|mitte|ende) (?:of )?)?"
    r"(?:(?:this|last|next|the|dem|der|(?:dies|letzt|nächst|kommend)e\w?) )*(?:(?:\d{1,2}\.? )?"
    rf"(?:{'|'.join(_CALENDAR)})(?: \d+)?"
    r"|weeks?|months?|years?|semester|today|tomorrow|yesterday|now|woche|monat|jahr|heute|morgen"
    r"|gestern|sofort|jetzt|(?:19|20)\d\d)"
)
BEGINS: Final = re.compile(
    r"(?:(?:heads[ -]up|fyi|update|note|news|btw|by the way|übrigens|info|so|also)\W+)?"
    rf"(?:as of|since|starting|beginning|effective|from|(?P<german>seit|ab)) {_DAY}(?: on| an)?,? "
    r"(?=\w)",
    re.IGNORECASE,
)
"""The time in front of a sentence from which it holds."""

UNIQUE: Final = _stems(
    """
    wife husband partner girlfriend boyfriend boss manager supervisor landlord teacher doctor
    dentist chef vermieter lehrer arzt zahnarzt freundin freund frau mann
    """
)
"""Persons of whom there is one at a time, so that a new one takes the place of the former."""

OFTEN: Final = _stems(
    """
    once twice thrice time times two three four five six seven eight nine ten einmal zweimal
    dreimal viermal funfmal sechsmal siebenmal achtmal neunmal zehnmal taglich daily weekly
    wochentlich
    """
)
"""Words that tell how often something is done."""

TIMES: Final = _stems(
    """
    morning mornings noon afternoon afternoons evening evenings night nights midnight breakfast
    lunch dinner am pm morgens vormittags mittags nachmittags abends nachts morgen mittag abend
    """
)
"""Words that tell a time of the day."""

EXCLUSIVE: Final = _stems(
    "handle own maintain responsible charge call betreut verwaltet zustandig verantwortlich"
)
"""Words of a task that one person has at a time."""

MASCULINE: Final[Mapping[str, str]] = {
    f"{word}in": word for word in words("chef vermieter lehrer arzt zahnarzt")
}
"""A new boss may be a man where the former one was a woman."""

WEAK: Final = _stems(
    """
    new current monthly weekly daily yearly annual own usual regular whole total neu neue neuer
    neues
    neuen neuem next nachste nachster nachstes
    aktuell aktuelle monatliche wochentliche eigene gesamte price cost fee amount rate
    level hohe preis kosten betrag gebuhr beitrag time at around about roughly
    """
)
"""Words beside a noun that do not make it another thing."""

FILLERS: Final = (
    STOP_WORDS
    | frozenset(word for each in GERMAN_FUNCTION_WORDS for word in words(each))
    | CONTRACTED
    | frozenset(
        words(
            """
            now nowadays currently old always usually often every each day week month year
            yesterday today tonight
            last
            just only finally already recently right exactly definitely certainly really confirmed
            ever yes no well back good big news still
            instead anymore more longer nowadays days like want going gone go went got get take us
            jetzt nun alt alte alten alter altes immer meist oft jeden jede tag woche monat jahr
            gestern
            heute letzte letzten letzter
            gerade endlich schon genau wirklich tatsachlich definitiv sicher bestatigt mehr
            sondern statt gern gerne lieber liebsten sofort
            inzwischen mittlerweile neuerdings doch lange uhr kein keinen keine
            """
        )
    )
    | SELF
)
"""Words that name neither a thing nor a value."""

NEW: Final = frozenset(words("new neu neue neuer neues neuen neuem"))

PAST: Final = frozenset(
    words(
        """
        was were had did went came got made took gave bought sold saw met ate drank drove flew ran
        read wrote left lost found told said thought felt kept began broke brought built burned
        caught chose cost fell forgot heard held knew led lent paid put rang rode sang sat sent set
        shot slept spoke spent stood swam taught threw understood woke wore won been baked
        war waren hatte hatten ging gingen kam kamen machte nahm gab kaufte sah traf ass trank fuhr
        flog lief las schrieb liess verlor fand sagte dachte blieb stand sass schlief sprach
        """
    )
)
"""Past tenses: they tell an event."""

_VERBS: Final[Mapping[str, str]] = {
    "be": "is are am re m be ist sind bin lautet lauten heisst called",
    "cost": "costs cost charges charge kostet kosten betragt betragen liegt",
    "start": "starts start begins begin beginnt beginnen fangt findet",
    "end": "ends finishes endet",
    "leave": "leaves departs",
    "open": "opens offnet",
    "close": "closes schliesst",
    "land": "lands arrives landet",
    "home": "live lives living reside resides based wohne wohnt wohnen lebe lebt leben",
    "work": "work works working employed arbeite arbeitet arbeiten angestellt",
    "use": "use uses using nutze nutzen nutzt verwende verwenden verwendet benutze benutzen",
    "run": "runs hosted deployed lauft laufen built gebaut written geschrieben",
    "drive": "drive drives driving ride rides fahre fahren fahrt",
    "have": "have has own owns habe haben hat besitze besitzen",
    "prefer": "prefer prefers bevorzuge",
}
VERBS: Final[Mapping[str, str]] = {
    word: family for family, listed in _VERBS.items() for word in words(listed)
}
"""Families of the verbs of statements."""

STATES: Final[Mapping[str, str]] = {
    word: state
    for state, listed in {
        "single": "single ledig unmarried",
        "together": "dating girlfriend boyfriend freundin freund zusammen vergeben",
        "engaged": "engaged fiance fiancee verlobt verlobter verlobte",
        "married": "married wife husband verheiratet geheiratet",
        "apart": "divorced separated broke broken split dumped geschieden getrennt schluss widowed"
        " verwitwet",
    }.items()
    for word in words(listed)
}
"""Words of how two people stand, by the state they tell."""

CHANGING: Final = _stems(
    """
    moved move moving switched switch changed change raised raise increased increase lowered
    reduced
    cut updated shifted pushed bumped rescheduled postponed upgraded migrated renamed swapped
    transferred converted dropped brought set relocated settled promoted risen rose fell fallen
    replaced traded become turned joined started hired left stopped quit gave given gone sold
    resigned rid cancelled canceled cancel called off over broke split scrapped found away after
    longer down up upped jumped climbed hiked slipped delayed ported extended rewrote rewritten
    rebuilt decided against happening back instead
    weggezogen fortgezogen ausgezogen verschrieben hochgesetzt vorverlegt vorgezogen portiert
    verlangert gekurzt abgebrochen geschmissen schluss beendet abbestellt nichts
    gestiegen gesunken erhoht gesenkt angehoben geandert umgestellt verlegt verschoben aktualisiert
    migriert reduziert gewechselt umgestiegen umgezogen gezogen gesetzt steigt sinkt wechselt
    wechsle
    ersetzt eingetauscht getauscht angefangen befordert aufgehort aufgegeben verkauft verschenkt
    weggegeben abgeschafft abgesagt storniert fallt ausgefallen geplatzt gekundigt verlassen wurde
    wurden worden
    """
)
"""Stems of the words of change themselves, which name neither a thing nor a value."""

MOVED: Final = Phrases(
    r"""
    (?<!not )(?:moved|moving|relocated|settled) (?:back |over |down |out )?(?:to|into|in|from)
    (?:gezogen|umgezogen|weggezogen) / (?:ziehe|ziehen) (?:\w+ )?(?:nach|um)
    """
)
"""The speaker or the subject has another home."""

HIRED: Final = Phrases(
    r"""
    joined (?!a |an |the |this |in|us|up|my |our |some|them|him|her) / hired by
    started (?:at|with|working (?:at|for|as)) / changed jobs / switched jobs
    (?:a|new|next|other) job (?:is )?(?:at|with|bei) / neue[rn]? (?:job|stelle)
    (?:job|stelle) bei
    (?:bei|zu) (?:\w+ ){1,4}(?:angefangen|gewechselt)
    """
)
"""The speaker or the subject has other work."""
