"""What the cleaner must know about each language; a new language is one more entry."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    stop_words: frozenset      # frequent words; those that another language has too count for neither
    number_words: dict         # number -> beginnings of words that may stand for it (month names too)
    quotes: tuple              # the typographic marks around a quotation; None leaves text as it is


def _words(text):
    return frozenset(text.split())


def _numbers(text):
    """"1 one first" per line -> {1: ("one", "first")}."""
    rows = (line.split() for line in text.strip().splitlines())
    return {int(row[0]): tuple(row[1:]) for row in rows}


LANGUAGES = {
    "en": Language(
        _words(
            "the of and to is that it for you with are this not be have by from or has he they we "
            "which can will if when your all there been would their but what his her she who them "
            "at on as do does did were our my me him its than then these those could should any some "
            "an into about no how also only more other out up"
        ),
        _numbers("""
            1 one first once single january jan
            2 two second twice both double february feb
            3 three third triple march mar
            4 four quarter april apr
            5 five fifth may
            6 six june jun
            7 seven july jul
            8 eight august aug
            9 nine ninth september sep
            10 ten october oct
            11 eleven november nov
            12 twelve twelfth dozen december dec noon midnight
            100 hundred
            1000 thousand
        """),
        None,
    ),
    "de": Language(
        _words(
            "der die das und ist nicht zu den dem des ein eine einen einem einer eines mit sich auf für "
            "von im es sie er wir ich ihr du auch als bei nach wie oder aber wenn dass aus um über zum "
            "zur vom werden wird wurde wurden sind haben kann können noch nur diese dieser dieses "
            "ihre ihren ihnen sein seine hier durch mehr alle wo kein keine mich mir dir uns sehr bitte "
            "also will an her not all"
        ),
        _numbers("""
            1 ein erst januar jänner
            2 zwei zwo beid doppel februar
            3 drei dritt dreh märz
            4 vier april
            5 fünf mai
            6 sechs juni
            7 sieb juli
            8 acht august
            9 neun september
            10 zehn oktober
            11 elf november
            12 zwölf dutzend dezember mittag mitternacht
            100 hundert einhundert
            1000 tausend eintausend
        """),
        ("„", "“"),
    ),
    "fr": Language(
        _words(
            "le la les de des du un une et est que qui dans pour pas sur avec ce cette ces il elle nous "
            "vous je tu ne se sont au aux par plus ou mais être avoir été fait peut votre vos son sa ses "
            "leur leurs en y à où si tout tous comme d l n s c qu j cela ont était me on or an"
        ),
        _numbers("""
            1 un premi janvier
            2 deux second février
            3 trois troisième mars
            4 quatr avril
            5 cinq mai
            6 six sixième juin
            7 sept juillet
            8 huit août
            9 neuf neuvième septembre
            10 dix octobre
            11 onz novembre
            12 douz décembre midi minuit
            100 cent
            1000 mille
        """),
        ("« ", " »"),
    ),
    "ro": Language(
        _words(
            "și şi de la în un o cu pe nu este sunt că ca se din pentru mai al ale ai prin sau "
            "dar dacă când acest această aceste fi fost au lui ei sa său dumneavoastră poate după are"
        ),
        _numbers("""
            1 un una prim întâi ianuarie
            2 doi două doua februarie
            3 trei martie
            4 patru aprilie
            5 cinci mai
            6 şase șase iunie
            7 şapte șapte iulie
            8 opt august
            9 nouă noua septembrie
            10 zece octombrie
            11 unsprezece noiembrie
            12 doisprezece douăsprezece decembrie
            100 sută suta
            1000 mie o
        """),
        ("„", "”"),
    ),
}
